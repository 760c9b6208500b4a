"""The commands of ``windlass plan`` and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windlass.cli import completion, options

plan_app = typer.Typer(
    help="Plan streaming queries, profile video pipelines, and run queries on real nodes.",
    no_args_is_help=True,
)


@plan_app.callback()
def _plan() -> None:
    pass


@plan_app.command("solve")
def solve(
    context: typer.Context,
    queries: Annotated[
        Path, typer.Argument(help="Queries with their plans (.yaml), such as examples/plan/queries.yaml.")
    ],
    cluster: Annotated[
        Path, typer.Option("--cluster", help="Cameras, clusters and cloud, with cores and links (.yaml).")
    ],
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            help="Planners to compare: names or files, as in cascade,fair.",
            autocompletion=completion.plan_policies,
        ),
    ] = "refined",
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the reason of each query's configuration.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random seed of planners that use one.")] = 1,
    json: options.Json = False,
) -> None:
    """Choose a configuration for each query; print accuracy, use of each resource, and an upper bound."""
    from windlass.cli.option_checks import TABLES, check_apart
    from windlass.cli.plan.solve import solve_command

    check_apart(context, "--json", ("--explain",), TABLES)
    names = tuple(name.strip() for name in policy.split(",") if name.strip())
    solve_command(queries, cluster, names, seed=seed, explain=explain, as_json=json)


@plan_app.command("profile")
def profile(
    pipeline: Annotated[Path, typer.Argument(help="Pipeline (.yaml), such as examples/plan/pipeline.yaml.")],
    clip: Annotated[Path, typer.Argument(help="Clip (.mp4), such as one of windlass plan clip.")],
    truth: Annotated[
        Path | None,
        typer.Option(
            "--truth",
            help="True tracks of the clip (.csv).",
            show_default="tracks of the pipeline's golden plan",
        ),
    ] = None,
    cache: Annotated[
        str, typer.Option("--cache", help="Maximum size of cached outputs, as in 900MB.")
    ] = "900MB",
    out: Annotated[Path, typer.Option("--out", help="Profile to write (.parquet).")] = Path(
        "profile.parquet"
    ),
    report: options.Report = None,
    alone: Annotated[
        bool,
        typer.Option("--alone", help="Also run each plan separately, and compare CPU time and results."),
    ] = False,
    keep_within: Annotated[
        float | None,
        typer.Option(
            "--keep-within",
            min=0,
            help="Keep the profile of --out if its best plans differ by at most this in accuracy on the clip.",
            show_default="always profile",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Run all plans of a video pipeline on a clip; measure accuracy, CPU time and bytes sent."""
    from windlass.cli.plan.profile import ProfileOptions, bytes_of, profile_command

    question = ProfileOptions(pipeline, clip, truth, bytes_of(cache), alone, out, report, keep_within)
    profile_command(question, as_json=json)


@plan_app.command("clip")
def clip(
    out: Annotated[Path, typer.Argument(help="Clip to write (.mp4).")],
    truth: Annotated[Path, typer.Option("--truth", help="File for the true tracks (.csv).")],
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random seed.")] = 1,
    seconds: Annotated[float, typer.Option("--seconds", help="Duration (s).")] = 10.0,
    weather: Annotated[str, typer.Option("--weather", help="Weather: clear, rain, snow or night.")] = "clear",
    density: Annotated[
        float,
        typer.Option(
            "--density",
            help="Traffic density; 1 is a car every 4 s per lane and a pedestrian every 5 s per pavement.",
        ),
    ] = 1.0,
    size: Annotated[str, typer.Option("--size", help="Width and height (pixels).")] = "1280x720",
    rate: Annotated[float, typer.Option("--rate", help="Frames per second.")] = 30.0,
) -> None:
    """Draw a clip of traffic, with the true tracks of all cars and pedestrians."""
    from windlass.cli.plan.clip import clip_command, size_of
    from windlass.plan.profile.traffic.scene import Traffic

    width, height = size_of(size)
    clip_command(Traffic(seed, seconds, weather, density, width, height, rate), out, truth)


@plan_app.command("run")
def run(
    context: typer.Context,
    queries: Annotated[
        Path,
        typer.Argument(
            help="Queries, each with its plans, clip, truth and pipeline (.yaml); read again when it changes."
        ),
    ],
    cluster: Annotated[
        Path, typer.Option("--cluster", help="Cameras, clusters and cloud, with cores and links (.yaml).")
    ],
    engine: Annotated[str, typer.Option("--engine", help="Engine: ray.")] = "ray",
    policy: Annotated[
        str,
        typer.Option("--policy", help="Planner: a name or a file.", autocompletion=completion.plan_policies),
    ] = "refined",
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            help="Address of a Ray cluster with nodes labelled site=NAME.",
            show_default="a private one on this machine",
        ),
    ] = None,
    nodes: Annotated[
        int, typer.Option("--nodes", min=1, help="Raylets of each parent cluster of a private Ray cluster.")
    ] = 1,
    real_links: Annotated[
        bool, typer.Option("--real-links", help="Do not emulate links between clusters.")
    ] = False,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Duration (s).", show_default="until Ctrl-C")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be started and planned, and start nothing.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random seed of planners that use one.")] = 1,
    json: options.Json = False,
) -> None:
    """Run queries on real nodes as planned, plan again after changes, and measure accuracy and lateness."""
    from windlass.cli.option_checks import PRIVATE, RUN, check_apart
    from windlass.cli.plan.run import Where, run_command

    check_apart(context, "--dry-run", ("--seconds", "--json", "--real-links"), RUN)
    check_apart(context, "--address", ("--nodes",), PRIVATE)
    run_command(
        queries,
        cluster,
        policy,
        Where(engine, address, nodes, not real_links),
        seconds=float("inf") if seconds is None else seconds,
        seed=seed,
        as_json=json,
        dry_run=dry_run,
    )
