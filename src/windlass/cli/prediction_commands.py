"""Commands on a log's own site: ``calibrate``; each imports its module when called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windlass.cli import options


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
