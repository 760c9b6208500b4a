"""Commands on scenarios: ``run``, ``compare``, ``explain``, ``validate``.

Each function has the options of a command, imports its module when it is called, and calls it. So ``--help`` and shell
completion start without the library.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windlass.cli import options


def run(
    context: typer.Context,
    target: options.Target = None,
    procs: options.Procs = None,
    fields: options.Fields = None,
    policies: options.Policies = None,
    seeds: options.Seeds = None,
    where: options.Where = None,
    format_: options.Format = None,
    columns: options.Columns = None,
    no_kill: options.NoKill = False,
    skip_bad_lines: options.SkipBadLines = False,
    jobs: options.Jobs = 1,
    on: options.On = None,
    out: options.Out = None,
    force: options.Force = False,
    resume: options.Resume = False,
    report: options.Report = None,
    no_code: options.NoCode = False,
    json: options.Json = False,
    per: options.Per = None,
    by: options.By = None,
    require: options.Require = None,
    no_check: options.NoCheck = False,
    csv: options.Csv = False,
    wide: options.Wide = False,
    engine: options.Engine = "sim",
    address: options.Address = None,
    nodes: options.Nodes = 1,
    real_links: options.RealLinks = False,
    dry_run: options.DryRun = False,
) -> None:
    """Run a workload under several policies and compare the results."""
    from windlass.cli.answer import AnswerOptions
    from windlass.cli.option_checks import check_run, given_in
    from windlass.cli.overrides import Overrides
    from windlass.cli.run import run_command
    from windlass.engines.targets import Target
    from windlass.experiment.experiment import Workers
    from windlass.model.limits import PROCESSES

    live = None if engine == "sim" else Target(engine, address, nodes, not real_links)
    running = address is not None or (on or "").startswith("ray:")
    check_run(given_in(context), live=live is not None, address=running)
    PROCESSES.check(jobs, "--jobs")
    run_command(
        target,
        Overrides(
            procs,
            policies,
            seeds,
            where,
            no_kill,
            skip_bad_lines,
            format_,
            tuple(fields or ()),
            tuple(columns or ()),
        ),
        code=not no_code,
        by=Workers(jobs, on, nodes),
        out=out,
        report=report,
        as_json=json,
        live=live,
        dry_run=dry_run,
        force=force,
        resume=resume,
        answer=AnswerOptions(by, require, not no_check, csv, wide, per),
    )


def compare(
    first: Annotated[
        Path, typer.Argument(metavar="RUN_A", help="Folder that windlass run --out has written.")
    ],
    second: Annotated[Path, typer.Argument(metavar="RUN_B", help="Folder of the run to compare with it.")],
    a: Annotated[
        str | None, typer.Option("--a", help="Variant of RUN_A.", show_default="all that both runs have")
    ] = None,
    b: Annotated[
        str | None, typer.Option("--b", help="Variant of RUN_B.", show_default="that of RUN_A")
    ] = None,
    by: options.By = None,
    json: options.Json = False,
) -> None:
    """Compare two saved runs of the same jobs: by how much B differs from A, and whether it is significant."""
    from windlass.cli.compare import compare_command

    compare_command(first, second, by, a, b, as_json=json)


def explain(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder that windlass run --out has written.")
    ],
    job: Annotated[
        str,
        typer.Argument(
            help="Job: its identifier in the log, as in 102_7, or its name, as in batch@iowa/17 or etl/3."
        ),
    ],
    variant: Annotated[
        str | None,
        typer.Option(
            "--variant", help="Variant to explain, as the table of the run names it.", show_default="all"
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Random seed.", show_default="first of the run")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Print every decision, also those that do not affect the job.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Explain what happened to a job: which jobs ran ahead of it and why, its reservation, and further decisions."""
    from windlass.cli.explain import ExplainOptions, explain_command
    from windlass.cli.option_checks import TABLES, check_apart

    check_apart(context, "--json", ("--all",), TABLES)
    explain_command(ExplainOptions(folder, job, variant, seed, everything), as_json=json)


def validate(
    target: options.Target = None,
    procs: Annotated[
        int | None, typer.Option("--procs", help="Processors of the site.", show_default="from the log")
    ] = None,
    policies: options.Policies = None,
    seeds: options.Seeds = None,
    where: options.Where = None,
    format_: options.Format = None,
    columns: options.Columns = None,
    skip_bad_lines: options.SkipBadLines = False,
    no_code: options.NoCode = False,
    long: Annotated[
        bool,
        typer.Option("--long", help="Print all defaults; a short form as a scenario of one cluster."),
    ] = False,
    json: options.Json = False,
) -> None:
    """Validate a scenario without running it: print what it reads, draws, imports and would run."""
    from windlass.cli.overrides import Overrides
    from windlass.cli.validate import validate_command

    overrides = Overrides(
        procs=procs,
        policies=policies,
        seeds=seeds,
        where=where,
        skip_bad_lines=skip_bad_lines,
        format=format_,
        columns=tuple(columns or ()),
    )
    validate_command(target, overrides, code=not no_code, long=long, as_json=json)
