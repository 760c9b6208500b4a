"""Options that commands share, and the options of ``windlass run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windlass.cli import completion

_OUTPUT = "Output"
_VERDICT = "Verdict"
_LIVE = "Live engines"

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.", rich_help_panel=_OUTPUT)
]
Report = Annotated[
    Path | None,
    typer.Option("--report", help="HTML report to write: one self-contained file.", rich_help_panel=_OUTPUT),
]
Target = Annotated[
    str | None,
    typer.Argument(
        help="Scenario (.yaml) or log (SWF, CSV, Parquet, Slurm's sacct, …); - for standard input.",
        show_default="a bundled workload",
    ),
]
Policies = Annotated[
    str | None,
    typer.Option(
        "--policies",
        help="Policies to compare, by name or file, as in fcfs,easy,./mine.py. "
        "Parameters in brackets: 'queue(priority=sjf)'. "
        "With several decisions: place=tetrium,in-place.",
        autocompletion=completion.policies,
        show_default="from the scenario",
    ),
]
Seeds = Annotated[
    str | None,
    typer.Option("--seeds", help="Random seeds, as in 1,2,7 or 1-5.", show_default="from the scenario"),
]
Where = Annotated[
    str | None,
    typer.Option("--where", help='Filter of the log\'s jobs, as in "user = 17 AND run > 60".'),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Format of the log, as in swf or sacct; see windlass list.",
        show_default="by content and suffix",
        autocompletion=completion.formats,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        help='Column of a table that holds a field, as in submit="Submit Time",run=Length; repeatable.',
        metavar="FIELD=COLUMN",
        show_default="by name",
    ),
]
SkipBadLines = Annotated[
    bool, typer.Option("--skip-bad-lines", help="Skip and list lines of the log that cannot be read.")
]
NoCode = Annotated[
    bool, typer.Option("--no-code", help="Import no policy files; refuse a scenario that names one.")
]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        help="Run on a Ray cluster: ray for a private one on this machine, ray:HOST:PORT for a running one.",
    ),
]

# Options of windlass run alone.
Procs = Annotated[
    str | None,
    typer.Option(
        "--procs", help="Processors of the site, as in 64, or 64,128 to sweep.", show_default="from the log"
    ),
]
Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Field of the scenario to set or sweep, as in load=0.8,1.0; repeatable.",
        metavar="FIELD=V",
    ),
]
NoKill = Annotated[bool, typer.Option("--no-kill", help="Do not kill jobs at their requested time.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Parallel processes.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Folder to write tables (Parquet) and the scenario to.",
        rich_help_panel=_OUTPUT,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace existing results in the folder.", rich_help_panel=_OUTPUT)
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Continue an interrupted run into the folder.", rich_help_panel=_OUTPUT),
]
Csv = Annotated[
    bool,
    typer.Option(
        "--csv", help="Print metrics as CSV, one row per variant and seed.", rich_help_panel=_OUTPUT
    ),
]
Wide = Annotated[bool, typer.Option("--wide", help="Print one table of any width.", rich_help_panel=_OUTPUT)]
Per = Annotated[
    str | None,
    typer.Option(
        "--per",
        help="Also print waits and work of each user, group, queue, partition or size.",
        show_default="none",
        autocompletion=completion.divisions,
        rich_help_panel=_OUTPUT,
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        help="Metric to compare, as in p99_wait or slowdown.",
        show_default="first metric of the world",
        autocompletion=completion.metrics,
        rich_help_panel=_VERDICT,
    ),
]
Require = Annotated[
    str | None,
    typer.Option(
        "--require",
        help='Requirements on the winner, as in "p99_wait<=1.1*fcfs, max_wait<2d".',
        autocompletion=completion.metrics,
        rich_help_panel=_VERDICT,
    ),
]
NoCheck = Annotated[
    bool,
    typer.Option(
        "--no-check",
        help="Do not repeat the run without killing jobs if over 1 % of the work is cut off.",
        rich_help_panel=_VERDICT,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        help="Engine: sim for the simulator, ray for a Ray cluster.",
        autocompletion=completion.engines,
        rich_help_panel=_LIVE,
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        help="Address of a running cluster.",
        show_default="a private one on this machine",
        rich_help_panel=_LIVE,
    ),
]
Nodes = Annotated[
    int,
    typer.Option(
        "--nodes",
        min=1,
        help="Nodes of a private cluster: per site with --engine, in total with --on.",
        rich_help_panel=_LIVE,
    ),
]
RealLinks = Annotated[
    bool,
    typer.Option("--real-links", help="Do not emulate links between sites.", rich_help_panel=_LIVE),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Print what would be started, and start nothing; policy files are imported.",
        rich_help_panel=_LIVE,
    ),
]
