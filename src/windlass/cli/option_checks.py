"""Options that would be without effect, and are refused: who gave one believes that it has one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from windlass.model import InputError

if TYPE_CHECKING:  # option checks run before the library is imported
    from windlass.cli.answer import AnswerOptions
    from windlass.experiment.experiment import Workers

#: What options are for that have no effect without something else.
_LIVE = ("--address", "--real-links")
_SHOWN = (
    "--out", "--report", "--json", "--csv", "--force", "--resume", "--by", "--require", "--no-check", "--wide",
)  # fmt: skip
#: What has no effect beside ``--dry-run`` is for this.
RUN = "what is run, and --dry-run runs nothing"
#: And what has none beside the address of a cluster, for this.
PRIVATE = "a private cluster, and one that runs is named"
#: What has none beside ``--json``.
TOLD = "tables for people, and JSON has it always"


def given_in(context: typer.Context) -> frozenset[str]:
    """The options that the command line has, by their long names."""
    return frozenset(
        each.opts[0]
        for each in context.command.params
        if each.name is not None and _is_on_the_line(context.get_parameter_source(each.name))
    )


def _is_on_the_line(source: object) -> bool:
    # Typer has a copy of click of its own in some versions, with an enumeration of its own.
    return getattr(source, "name", None) == "COMMANDLINE"


def check_needs(context: typer.Context, *pairs: tuple[str, str]) -> None:
    """Refuse an option that has an effect only beside another one, which was not given.

    Parameters
    ----------
    context
        Of the command.
    pairs
        An option, and the one that it needs.

    Raises
    ------
    InputError
        Names both.
    """
    given = given_in(context)
    for option, other in pairs:
        if other not in given:
            _refuse(given, (option,), other)


def check_apart(context: typer.Context, other: str, options: tuple[str, ...], what: str) -> None:
    """Refuse options that have no effect beside another one, if that was given.

    Parameters
    ----------
    context
        Of the command.
    other
        The option that leaves them without effect.
    options
        Those.
    what
        What they are for.

    Raises
    ------
    InputError
        Names the first, and what it is for.
    """
    given = given_in(context)
    if other in given:
        _refuse(given, options, what)


def check_run(given: frozenset[str], *, live: bool, address: bool = False) -> None:
    """Refuse what has no effect among the options of ``windlass run``.

    Parameters
    ----------
    given
        The options that were given.
    live
        Whether it runs on a live engine.
    address
        Whether a cluster that runs already is named, for that or for cells.

    Raises
    ------
    InputError
        Names the first that would have none, and what it is for.

    Examples
    --------
    >>> check_run(frozenset({"--nodes", "--json"}), live=False)
    Traceback (most recent call last):
    windlass.model.errors.InputError: --nodes: has no effect here, it is for --engine with a live engine, or --on ray
    """
    without: list[tuple[tuple[str, ...], str]] = []
    if live:
        without.append((("--jobs", "--no-check"), "the simulator"))
    else:
        without.append((_LIVE, "--engine with a live engine"))
        if "--on" not in given:
            without.append((("--nodes",), "--engine with a live engine, or --on ray"))
    if address:
        without.append((("--nodes",), PRIVATE))
    if given & {"--json", "--csv"}:
        without.append((("--wide",), "tables for people"))
    if "--dry-run" in given:
        without.append((_SHOWN, RUN))
    for options, what in without:
        _refuse(given, options, what)


def _refuse(given: frozenset[str], options: tuple[str, ...], what: str) -> None:
    for option in options:
        if option in given:
            raise InputError(f"{option}: has no effect here, it is for {what}")


def check_together(
    asked: AnswerOptions,
    by: Workers,
    out: Path | None,
    live: bool,
    *,
    as_json: bool,
    force: bool,
    resume: bool,
) -> None:
    """Refuse options of ``windlass run`` that exclude each other, or that need another one.

    Raises
    ------
    InputError
        Names an option, and the one that is given or missing.
    """
    if as_json and asked.csv:
        raise InputError("--csv: --json is given as well, expected one of the two")
    if out is None and (force or resume):
        raise InputError(
            f"{'--resume' if resume else '--force'}: is about the folder of --out, which is missing"
        )
    if by.on is not None and (live or by.jobs > 1):
        raise InputError(
            f"--on: {'--engine' if live else '--jobs'} is given as well, expected one of the two"
        )
