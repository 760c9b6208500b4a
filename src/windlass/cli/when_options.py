"""Options of ``windlass when`` and ``windlass slurm when``."""

from __future__ import annotations

from typing import Annotated

import typer

Like = Annotated[
    str | None,
    typer.Option("--like", help="A job to submit, as in procs=64,walltime=4h,user=ann.", metavar="JOB"),
]
AllWaiting = Annotated[bool, typer.Option("--waiting", help="Predict all jobs that wait at the instant.")]
EarlierJobs = Annotated[
    int,
    typer.Option(
        "--check", min=0, max=100_000, help="Earlier jobs to predict, which calibrate the interval."
    ),
]
