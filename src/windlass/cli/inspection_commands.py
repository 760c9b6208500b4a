"""Commands on policies and logs: ``check``, ``trace``, ``when``, ``list``; each imports its module when called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windlass.cli import completion, options, when_options
from windlass.policy.limit import CHECK_LIMIT_S


def check(
    policy: Annotated[
        str,
        typer.Argument(
            help="Policy: a file, as in ./mine.py, or a name.", autocompletion=completion.policies
        ),
    ],
    decision: Annotated[
        str | None,
        typer.Option(
            "--decision",
            help="Decision that the policy makes, as in order.site.",
            show_default="by the imports of the file",
            autocompletion=completion.decision_names,
        ),
    ] = None,
    limit: Annotated[
        float, typer.Option("--limit", min=0.1, help="Time limit per check (s).")
    ] = CHECK_LIMIT_S,
    json: options.Json = False,
) -> None:
    """Check a policy with the tests that every policy of its decision must pass; exit status 1 if one fails."""
    from windlass.cli.check import check_command

    check_command(policy, decision, limit_s=limit, as_json=json)


def trace(
    file: Annotated[Path, typer.Argument(help="Log; - for standard input.")],
    procs: Annotated[
        int | None, typer.Option("--procs", help="Processors of the site.", show_default="from the log")
    ] = None,
    format_: options.Format = None,
    columns: options.Columns = None,
    skip_bad_lines: options.SkipBadLines = False,
    json: options.Json = False,
) -> None:
    """Describe a log: jobs, time span, load, sizes, run times, and the jobs that a run would leave out."""
    from windlass.cli.inspect import trace_command

    trace_command(file, procs, skip_bad_lines, format_, tuple(columns or ()), as_json=json)


def when(
    log: Annotated[Path, typer.Argument(help="Log; - for standard input.")],
    job: Annotated[
        str | None, typer.Argument(help="Job of the log.", show_default="none: check predictions only")
    ] = None,
    like: when_options.Like = None,
    at: Annotated[
        float | None,
        typer.Option(
            "--at", help="Instant (s of the log).", show_default="the job's submission, or the last one"
        ),
    ] = None,
    waiting: when_options.AllWaiting = False,
    policy: Annotated[
        str,
        typer.Option("--policy", help="Policy of the site's queue.", autocompletion=completion.policies),
    ] = "easy",
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Predict the policy's own schedule, not the recorded one.")
    ] = False,
    check: when_options.EarlierJobs = 300,
    procs: Annotated[
        int | None, typer.Option("--procs", help="Processors of the site.", show_default="from the log")
    ] = None,
    where: options.Where = None,
    format_: options.Format = None,
    columns: options.Columns = None,
    json: options.Json = False,
) -> None:
    """Predict when a job starts, with an interval, and compare with earlier jobs and with Slurm's rule."""
    from windlass.cli.when import WhenOptions, when_command

    question = WhenOptions(
        log=log,
        job=job,
        like=like,
        at=at,
        policy=policy,
        simulated=simulated,
        procs=procs,
        where=where,
        format=format_,
        columns=tuple(columns or ()),
        check=check,
        waiting=waiting,
    )
    when_command(question, as_json=json)


def list_(
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="Print only entries that contain this text.", show_default="all"),
    ] = None,
    decision: Annotated[
        str | None,
        typer.Option(
            "--decision",
            help="Print only the policies of one decision, as in order.site.",
            show_default="all",
            autocompletion=completion.decision_names,
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """List decisions, policies with their parameters, priorities, worlds, log formats and papers."""
    from windlass.cli.inspect import list_command

    list_command(text, decision, as_json=json)
