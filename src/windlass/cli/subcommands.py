"""Commands on models and papers: ``place``, ``cluster``, ``forecast``, ``admit`` and ``reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windlass.cli import completion, options


def place(
    context: typer.Context,
    job: Annotated[Path, typer.Argument(help="Job (.yaml), such as examples/fleet-job.yaml.")],
    cluster: Annotated[
        Path | None, typer.Option("--cluster", help="Sites (.yaml).", show_default="those in the job's file")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the links and sites that limit each stage.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Place the tasks of one job over sites: tasks per site, transfers, times and cost."""
    from windlass.cli.option_checks import TABLES, check_apart
    from windlass.cli.place import place_command

    check_apart(context, "--json", ("--explain",), TABLES)
    place_command(job, cluster, explain=explain, as_json=json)


cluster_app = typer.Typer(help="Create cluster files from measurements.", no_args_is_help=True)


@cluster_app.callback()
def _cluster() -> None:
    pass


@cluster_app.command("from-wan")
def from_wan(
    file: Annotated[Path, typer.Argument(help="Measured throughput between regions (.csv).")],
    regions: Annotated[str, typer.Option("--regions", help="Regions, as in aws:us-east-1,gcp:europe-west4.")],
    out: Annotated[Path, typer.Option("--out", help="Cluster file to write.")],
    slots: Annotated[
        str, typer.Option("--slots", help="Slots of each region, or one number for all.")
    ] = "100",
    machines: Annotated[
        float, typer.Option("--machines", help="Machines per region that send and receive.")
    ] = 1.0,
    prices: Annotated[
        Path | None, typer.Option("--prices", help="Egress prices (.csv).", show_default="next to FILE")
    ] = None,
) -> None:
    """Create a cluster file from measured throughput between cloud regions."""
    from windlass.cli.cluster import from_wan_command

    from_wan_command(file, regions, out, slots=slots, machines=machines, prices=prices)


def forecast(
    series: Annotated[Path, typer.Argument(help="Table with a time in each line (.csv).")],
    freq: Annotated[
        str | None,
        typer.Option(
            "--freq", help="Time between rows, as in 10min.", show_default="the most frequent of the table"
        ),
    ] = None,
    season: Annotated[str, typer.Option("--season", help="Periods of the series, as in 1d,7d.")] = "1d,7d",
    models: Annotated[
        str,
        typer.Option(
            "--models",
            help="Forecasters to compare, as in nlinear,ets.",
            autocompletion=completion.forecaster_names,
        ),
    ] = "naive,seasonal-naive,ses,nlinear,dlinear",
    test: Annotated[str, typer.Option("--test", help="Length of the test part, as in 28d.")] = "28d",
    launch: Annotated[
        str, typer.Option("--launch", help="Time that an instance takes to start, as in 20min.")
    ] = "20min",
    columns: Annotated[
        str | None, typer.Option("--columns", help="Columns to forecast.", show_default="all but the time")
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", help="Format of the table: csv, or helios as published.")
    ] = "csv",
    report: options.Report = None,
    json: options.Json = False,
) -> None:
    """Test forecasters on a series; each forecast uses only the rows before it."""
    from windlass.cli.forecast import ForecastOptions, forecast_command, seconds

    question = ForecastOptions(
        series,
        format_,
        _names(columns),
        _names(models),
        None if freq is None else seconds("--freq", freq),
        tuple(seconds("--season", each) for each in _names(season)),
        seconds("--test", test),
        seconds("--launch", launch),
    )
    forecast_command(question, as_json=json, report=report)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


admit_app = typer.Typer(help="Evaluate admission policies on telemetry.", no_args_is_help=True)


@admit_app.callback()
def _admit() -> None:
    pass


@admit_app.command("evaluate")
def evaluate(
    files: Annotated[
        list[Path],
        typer.Argument(help="Telemetry: .parquet of windlass agent record, .npz (SMD), .csv.gz (Bitbrains)."),
    ],
    spikes: Annotated[
        str, typer.Option("--spikes", help="Column in which spikes are predicted.")
    ] = "cpu_ready",
    threshold: Annotated[
        str,
        typer.Option("--threshold", help="Smallest value of a spike: a number, or a percentile as in p95."),
    ] = "p95",
    downtime: Annotated[
        str, typer.Option("--downtime", help="Shares of the time in which a node may reject tasks.")
    ] = "5%,10%",
    before: Annotated[
        Path | None,
        typer.Option(
            "--before",
            help="Earlier telemetry of the same machine to warm up on; percentiles refer to it.",
            show_default="the first fifth of FILES",
        ),
    ] = None,
    within: Annotated[
        int, typer.Option("--within", min=1, help="Steps before an onset within which a signal predicts it.")
    ] = 10,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random seed.")] = 1,
    json: options.Json = False,
    report: options.Report = None,
) -> None:
    """Measure how many onsets of spikes each policy predicts, at a given downtime and compared with chance."""
    from windlass.cli.admit import EvaluationOptions, evaluate_command, shares

    question = EvaluationOptions(spikes, threshold, shares(downtime), within, seed=seed)
    evaluate_command(files, question, before=before, as_json=json, report=report)


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            help="Paper, such as rosella; windlass list shows all.", autocompletion=completion.papers
        ),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Use smaller samples, for about a minute.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder to write the rows and the page with plots to.")
    ] = None,
    json: options.Json = False,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            help="Engine of sim-vs-live and asax: ray or slurm.",
            show_default="the paper's own",
            autocompletion=completion.paper_engines,
        ),
    ] = None,
    slurm: Annotated[bool, typer.Option("--slurm", help="Short for --engine slurm.")] = False,
    on: options.On = None,
) -> None:
    """Compute a paper's tables and figures again, next to the published values."""
    from windlass.cli.reproduce import engine_of, reproduce_command

    where = engine_of(engine, slurm=slurm)
    reproduce_command(paper, quick=quick, out=out, as_json=json, engine=where, on=on)
