"""Commands that are one of a few under a name: ``cluster from-wan`` and ``admit evaluate``; and ``reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windlass.cli.options import On

cluster_app = typer.Typer(help="Make cluster files.", no_args_is_help=True)


@cluster_app.callback()
def _cluster() -> None:
    pass


@cluster_app.command("from-wan")
def from_wan(
    file: Annotated[Path, typer.Argument(help="Measured throughput between regions (.csv).")],
    regions: Annotated[str, typer.Option("--regions", help="As in aws:us-east-1,gcp:europe-west4.")],
    out: Annotated[Path, typer.Option("--out", help="The cluster file to write.")],
    slots: Annotated[
        str, typer.Option("--slots", help="Slots of each region, or one number for all.")
    ] = "100",
    machines: Annotated[
        float, typer.Option("--machines", help="Machines that send and receive a region.")
    ] = 1.0,
    prices: Annotated[
        Path | None, typer.Option("--prices", help="Egress prices (.csv).", show_default="beside FILE")
    ] = None,
) -> None:
    """Make a cluster file from measured throughput between cloud regions."""
    from windlass.cli.cluster import from_wan_command

    from_wan_command(file, regions, out, slots=slots, machines=machines, prices=prices)


admit_app = typer.Typer(help="May this node take one more task?", no_args_is_help=True)


@admit_app.callback()
def _admit() -> None:
    pass


@admit_app.command("evaluate")
def evaluate(
    files: Annotated[
        list[Path], typer.Argument(help="Telemetry: .parquet as recorded, .npz (SMD), .csv.gz (Bitbrains).")
    ],
    spikes: Annotated[str, typer.Option("--spikes", help="The column that spikes are of.")] = "cpu_ready",
    threshold: Annotated[
        str, typer.Option("--threshold", help="From which value on: a number, or a percentile such as p95.")
    ] = "p95",
    downtime: Annotated[
        str, typer.Option("--downtime", help="How much of the time nodes may be down.")
    ] = "5%,10%",
    before: Annotated[
        Path | None,
        typer.Option(
            "--before",
            help="Telemetry of the same machine from before, which policies see first; percentiles are of it.",
            show_default="the first fifth of FILES",
        ),
    ] = None,
    within: Annotated[
        int, typer.Option("--within", min=1, help="An onset is to be foreseen by so many steps.")
    ] = 10,
    seed: Annotated[int, typer.Option("--seed", min=0)] = 1,
    json: Annotated[
        bool, typer.Option("--json", help="A JSON list on standard output, nothing else.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="One self-contained HTML file to write.")
    ] = None,
) -> None:
    """Say what each policy foresees of the onsets of spikes, at a downtime, beside chance."""
    from windlass.cli.admit import EvaluationOptions, evaluate_command, shares

    asked = EvaluationOptions(spikes, threshold, shares(downtime), within, seed=seed)
    evaluate_command(files, asked, before=before, as_json=json, report=report)


def reproduce(
    paper: Annotated[str, typer.Argument(help="Which paper, such as rosella; `windlass list` shows them.")],
    quick: Annotated[bool, typer.Option("--quick", help="Smaller samples, in about a minute.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the page with the plots, and the rows.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="A JSON list of rows on standard output, nothing else.")
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option("--engine", help="Where it runs for real, as in ray or slurm: sim-vs-live and asax."),
    ] = None,
    slurm: Annotated[bool, typer.Option("--slurm", help="The same as --engine slurm.")] = False,
    on: On = None,
) -> None:
    """Make a paper's tables and figures again, theirs beside ours."""
    from windlass.cli.reproduce import engine_of, reproduce_command

    where = engine_of(engine, slurm=slurm)
    reproduce_command(paper, quick=quick, out=out, as_json=json, engine=where, on=on)
