"""Commands that say what a run did or would do, and their options: ``explain``, ``check``, ``validate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windlass.policy.limit import CHECK_LIMIT_S


def explain(
    context: typer.Context,
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
    from windlass.cli.explain import ExplainOptions, explain_command
    from windlass.cli.option_checks import TOLD, check_apart

    check_apart(context, "--json", ("--all",), TOLD)
    explain_command(ExplainOptions(folder, job, variant, seed, everything), as_json=json)


def check(
    policy: Annotated[str, typer.Argument(help="A policy's file, as in ./mine.py, or a name.")],
    decision: Annotated[
        str | None,
        typer.Option("--decision", help="As in order.site.", show_default="told by what the file imports"),
    ] = None,
    limit: Annotated[
        float, typer.Option("--limit", min=0.1, help="Time limit per check (s).")
    ] = CHECK_LIMIT_S,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON object on standard output, nothing else.")
    ] = False,
) -> None:
    """Import a policy's file, and hold it to what every policy of its decision must do; status 1 if it does not."""
    from windlass.cli.check import check_command

    check_command(policy, decision, limit_s=limit, as_json=json)


def validate(
    target: Annotated[
        str | None,
        typer.Argument(help="A scenario (.yaml) or a log; none: the bundled workload."),
    ] = None,
    procs: Annotated[
        int | None, typer.Option("--procs", help="Processors of the site.", show_default="as the log says")
    ] = None,
    policies: Annotated[str | None, typer.Option("--policies", help="As `run` takes them.")] = None,
    seeds: Annotated[str | None, typer.Option("--seeds", help="As in 1,2,7 or 1-5.")] = None,
    where: Annotated[str | None, typer.Option("--where", help="Only these jobs of the log.")] = None,
    format_: Annotated[str | None, typer.Option("--format", help="The log's format.")] = None,
    skip_bad_lines: Annotated[
        bool, typer.Option("--skip-bad-lines", help="Leave out lines that cannot be read, and list them.")
    ] = False,
    no_code: Annotated[
        bool, typer.Option("--no-code", help="Refuse a scenario that names files of code: they are imported.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON object on standard output, nothing else.")
    ] = False,
) -> None:
    """Find what is wrong with a scenario without running it: say what it reads, draws, imports, and would run."""
    from windlass.cli.overrides import Overrides
    from windlass.cli.validate import validate_command

    overrides = Overrides(
        procs=procs,
        policies=policies,
        seeds=seeds,
        where=where,
        skip_bad_lines=skip_bad_lines,
        format=format_,
    )
    validate_command(target, overrides, code=not no_code, as_json=json)
