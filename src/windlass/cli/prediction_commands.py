"""Commands on a site that exists: ``calibrate`` and ``what-if``; each imports its module when called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windlass.cli import completion, options


def calibrate(
    log: Annotated[Path, typer.Argument(help="Log with waits or start times; - for standard input.")],
    share: Annotated[
        float,
        typer.Option(
            "--share", min=0.01, max=0.99, help="First part of the jobs, to fit; the rest is judged."
        ),
    ] = 0.5,
    out: Annotated[
        Path | None, typer.Option("--out", help="Scenario to write, which replays the fitted site (.yaml).")
    ] = None,
    procs: Annotated[
        int | None, typer.Option("--procs", help="Processors of the site.", show_default="from the log")
    ] = None,
    where: options.Where = None,
    format_: options.Format = None,
    columns: options.Columns = None,
    json: options.Json = False,
) -> None:
    """Fit what a log does not state about its site on its first part, and judge the replay on the rest."""
    from windlass.cli.calibrate import CalibrateOptions, calibrate_command

    given = CalibrateOptions(log, share, out, procs, where, format_, tuple(columns or ()))
    calibrate_command(given, as_json=json)


def what_if(
    file: Annotated[Path, typer.Argument(help="Log, or journal of windlass serve.")],
    policies: Annotated[
        str | None,
        typer.Option(
            "--policies",
            help="Other policies of the queue, as in sjf,'queue(priority=saf)'.",
            autocompletion=completion.policies,
        ),
    ] = None,
    procs: Annotated[
        str | None, typer.Option("--procs", help="Other numbers of processors, as in 64,128.")
    ] = None,
    without: Annotated[
        str | None, typer.Option("--without", help="Machines to remove, by name; of a journal.")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            help="Present policy of the queue of a log.",
            show_default="easy",
            autocompletion=completion.policies,
        ),
    ] = None,
    at: Annotated[
        float | None,
        typer.Option("--at", help="Instant (s of the log).", show_default="the last submission"),
    ] = None,
    engine: Annotated[str | None, typer.Option("--engine", help="Engine of a journal.")] = None,
    site: Annotated[str | None, typer.Option("--site", help="Site of a journal.")] = None,
    columns: options.Columns = None,
    json: options.Json = False,
) -> None:
    """Predict the waits of the waiting jobs under other policies or sizes, from the state at an instant."""
    from windlass.cli.what_if import WhatIfOptions, what_if_command

    given = WhatIfOptions(file, policies, procs, without, policy, at, engine, site, tuple(columns or ()))
    what_if_command(given, as_json=json)
