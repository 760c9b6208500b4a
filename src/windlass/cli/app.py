"""The commands and their options; each hands over to a module of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windlass.cli.agent import agent_app
from windlass.cli.commands import check, explain, validate
from windlass.cli.options import Format, Json, On
from windlass.cli.plan import plan_app
from windlass.cli.scaling import k8s_app, ray_app
from windlass.cli.slurm import slurm_app
from windlass.cli.subcommands import admit_app, cluster_app, reproduce
from windlass.model.version import version

app = typer.Typer(
    help="Windlass: which scheduling policy would do what on your cluster?",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.add_typer(admit_app, name="admit")
app.add_typer(agent_app, name="agent")
app.add_typer(cluster_app, name="cluster")
app.add_typer(slurm_app, name="slurm")
app.add_typer(k8s_app, name="k8s")
app.add_typer(plan_app, name="plan")
app.add_typer(ray_app, name="ray")
app.command()(reproduce)

for each in (explain, check, validate):
    app.command()(each)

_SKIP = typer.Option("--skip-bad-lines", help="Leave out lines that cannot be read, and list them.")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"windlass {version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass


@app.command()
def run(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            help="A scenario (.yaml) or a log, as .swf, .csv or what sacct prints; none: a bundled workload."
        ),
    ] = None,
    procs: Annotated[
        str | None,
        typer.Option(
            "--procs",
            help="Processors of the site, as in 64, or 64,128 for both.",
            show_default="as the log says",
        ),
    ] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Any field of the scenario, as in load=0.8,1.0; again for another.",
            metavar="FIELD=V",
        ),
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option(
            "--policies",
            help="Policies to compare: names or files, as in 'fcfs,queue(priority=sjf),./mine.py'; "
            "where a world has several decisions, place=tetrium,in-place says for which.",
        ),
    ] = None,
    seeds: Annotated[str | None, typer.Option("--seeds", help="Seeds to run, as in 1,2,7 or 1-5.")] = None,
    where: Annotated[
        str | None,
        typer.Option("--where", help='Only these jobs of the log, as in "user = 17 AND run > 60".'),
    ] = None,
    format_: Format = None,
    no_kill: Annotated[
        bool, typer.Option("--no-kill", help="Let jobs run on past their requested time.")
    ] = False,
    skip_bad_lines: Annotated[bool, _SKIP] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes to run in.")] = 1,
    on: On = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the tables (Parquet) and the scenario as run.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace results that are in the folder already.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run into the folder that was interrupted.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="One self-contained HTML file to write.")
    ] = None,
    no_code: Annotated[
        bool, typer.Option("--no-code", help="Import no policy files; a scenario that names one is refused.")
    ] = False,
    json: Json = False,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            help="What matters, as in p99_wait or slowdown.",
            show_default="the first metric",
            rich_help_panel="The answer",
        ),
    ] = None,
    require: Annotated[
        str | None,
        typer.Option(
            "--require",
            help='What a winner must keep, as in "p99_wait<=1.1*fcfs, max_wait<2d".',
            rich_help_panel="The answer",
        ),
    ] = None,
    no_check: Annotated[
        bool,
        typer.Option(
            "--no-check",
            help="Where over 1 % of the work is cut at requested times, do not run without cutting, too.",
            rich_help_panel="The answer",
        ),
    ] = False,
    csv: Annotated[
        bool,
        typer.Option(
            "--csv", help="Metrics as CSV, a row per variant and seed.", rich_help_panel="The answer"
        ),
    ] = False,
    wide: Annotated[
        bool, typer.Option("--wide", help="One table, however wide.", rich_help_panel="The answer")
    ] = False,
    engine: Annotated[
        str, typer.Option("--engine", help="sim, or for real on ray.", rich_help_panel="For real")
    ] = "sim",
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            help="A cluster that runs already.",
            show_default="a private one on this machine",
            rich_help_panel="For real",
        ),
    ] = None,
    nodes: Annotated[
        int,
        typer.Option(
            "--nodes",
            min=1,
            help="Nodes a site of a private cluster, or with --on ray of all of it.",
            rich_help_panel="For real",
        ),
    ] = 1,
    real_links: Annotated[
        bool,
        typer.Option(
            "--real-links", help="Do not emulate links: sites are truly apart.", rich_help_panel="For real"
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Say what would be started and run; policy files are imported all the same.",
            rich_help_panel="For real",
        ),
    ] = False,
) -> None:
    """Run a workload through policies and compare what comes out."""
    from windlass.cli.answer import AnswerOptions
    from windlass.cli.option_checks import check_run, given_in
    from windlass.cli.overrides import Overrides
    from windlass.cli.run import run_command
    from windlass.engines.targets import Target
    from windlass.experiment.experiment import Workers
    from windlass.model.limits import PROCESSES

    overrides = Overrides(
        procs, policies, seeds, where, no_kill, skip_bad_lines, format_, tuple(fields or ())
    )
    live = None if engine == "sim" else Target(engine, address, nodes, not real_links)
    named = address is not None or (on or "").startswith("ray:")
    check_run(given_in(context), live=live is not None, address=named)
    PROCESSES.check(jobs, "--jobs")
    run_command(
        target,
        overrides,
        code=not no_code,
        by=Workers(jobs, on, nodes),
        out=out,
        report=report,
        as_json=json,
        live=live,
        dry_run=dry_run,
        force=force,
        resume=resume,
        asked=AnswerOptions(by, require, not no_check, csv, wide),
    )


@app.command("list")
def list_() -> None:
    """Show the decisions, their policies, the worlds and the log formats."""
    from windlass.cli.inspect import list_command

    list_command()


@app.command()
def trace(
    file: Annotated[Path, typer.Argument(help="A log.")],
    procs: Annotated[int | None, typer.Option("--procs", help="Processors of the site.")] = None,
    format_: Format = None,
    skip_bad_lines: Annotated[bool, _SKIP] = False,
    json: Json = False,
) -> None:
    """Describe a log: jobs, time span, load, sizes, run times, and what a run would leave out."""
    from windlass.cli.inspect import trace_command

    trace_command(file, procs, skip_bad_lines, format_, as_json=json)


@app.command()
def place(
    context: typer.Context,
    job: Annotated[Path, typer.Argument(help="A job (.yaml), such as examples/fleet-job.yaml.")],
    cluster: Annotated[
        Path | None, typer.Option("--cluster", help="Sites (.yaml).", show_default="those that the job names")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say what limits each stage.")] = False,
    json: Json = False,
) -> None:
    """Place one job over sites: who runs what, what moves, how long it takes, what it costs."""
    from windlass.cli.option_checks import TOLD, check_apart
    from windlass.cli.place import place_command

    check_apart(context, "--json", ("--explain",), TOLD)
    place_command(job, cluster, explain=explain, as_json=json)


@app.command()
def forecast(
    series: Annotated[Path, typer.Argument(help="A table with a time in each line (.csv).")],
    freq: Annotated[str, typer.Option("--freq", help="Time a row, as in 10min.")],
    season: Annotated[
        str, typer.Option("--season", help="After what time things repeat, as in 1d,7d.")
    ] = "1d,7d",
    models: Annotated[
        str,
        typer.Option("--models", help="Forecasters to compare, as in nlinear,ets; an unknown one lists all."),
    ] = "naive,seasonal-naive,ses,nlinear,dlinear",
    test: Annotated[str, typer.Option("--test", help="The last part, to test with, as in 28d.")] = "28d",
    launch: Annotated[
        str, typer.Option("--launch", help="Time that an instance takes to start, as in 20min.")
    ] = "20min",
    columns: Annotated[
        str | None, typer.Option("--columns", help="Which columns.", show_default="all but the time")
    ] = None,
    format_: Annotated[str, typer.Option("--format", help="csv, or helios as it is published.")] = "csv",
    report: Annotated[
        Path | None, typer.Option("--report", help="One self-contained HTML file to write.")
    ] = None,
    json: Json = False,
) -> None:
    """Test how well forecasters say how a series goes on, each from the rows before alone."""
    from windlass.cli.forecast import ForecastOptions, forecast_command, seconds

    def names(text: str | None) -> tuple[str, ...]:
        return tuple(name.strip() for name in (text or "").split(",") if name.strip())

    question = ForecastOptions(
        series,
        format_,
        names(columns),
        names(models),
        seconds("--freq", freq),
        tuple(seconds("--season", each) for each in names(season)),
        seconds("--test", test),
        seconds("--launch", launch),
    )
    forecast_command(question, as_json=json, report=report)
