"""``--as-file`` of the commands that drive one engine: the file for ``windlass serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from windlass.cli.option_checks import check_apart
from windlass.cli.output import write_raw
from windlass.cli.policy_notation import decision_and_policy, split_policies, with_parameters

AsFile = Annotated[
    bool,
    typer.Option("--as-file", help="Print the file for windlass serve with these options, and do nothing."),
]
#: Purpose of options that the file does not have.
_ELSEWHERE = "a run of this command; windlass serve has its own options"


def print_file(words: typer.Context, without: tuple[str, ...], **fields: Any) -> None:
    """Print the file of an engine.

    Parameters
    ----------
    words
        The context of the command.
    without
        Options that the file does not have.
    fields
        Fields of the engine.

    Raises
    ------
    InputError
        Such an option is given, or a field is wrong.
    """
    from windlass.control.engine_file import engine_file

    check_apart(words, "--as-file", without, _ELSEWHERE)
    write_raw(engine_file(fields, Path.cwd()))


def scaling_fields(types: Path, policy: str, period: float, history: Path | None) -> dict[str, Any]:
    """Return the fields that both autoscalers have, from their options."""
    from windlass.io import parse_yaml

    return {"types": types, "policy": parse_yaml(policy, "--policy"), "period": period, "history": history}


def policy_fields(text: str) -> dict[str, Any]:
    """Return the value of ``--policies`` as the field of a file.

    >>> policy_fields("order=queue(priority=sjf),share=pairs")
    {'order': {'queue': {'priority': 'sjf'}}, 'share': 'pairs'}
    """
    found = {}
    for entry in split_policies(text):
        decision, policy = decision_and_policy(entry)
        found["order" if decision is None else decision] = with_parameters(policy)
    return found
