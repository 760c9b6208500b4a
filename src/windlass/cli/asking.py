"""Commands that say what a run did or would do, and their options: ``explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def explain(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A folder that `run --out` has written.")],
    job: Annotated[int, typer.Argument(help="The job's number in the log.")],
    variant: Annotated[
        str | None,
        typer.Option("--variant", help="Under which policies, as the table of the run names them."),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", show_default="the first of the run")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every decision, also those that changed nothing for the job.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON object on standard output, nothing else.")
    ] = False,
) -> None:
    """Say what a job of a run waited for: who ran ahead, why, when it was promised a start, who was let past."""
    from windlass.cli.explain import Question, explain_command

    explain_command(Question(folder, job, variant, seed, everything), as_json=json)
