"""The commands under ``windlass plan``, and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

plan_app = typer.Typer(
    help="With which configuration should each streaming query run, and where?", no_args_is_help=True
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
        Path, typer.Option("--cluster", help="Cameras, clusters and cloud (.yaml), with cores and links.")
    ],
    policy: Annotated[
        str,
        typer.Option(
            "--policy", help="One or several to compare: names, or files of your own, as in cascade,fair."
        ),
    ] = "refined",
    explain: Annotated[bool, typer.Option("--explain", help="Say of each query why.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of policies that draw.")] = 1,
    json: Annotated[
        bool, typer.Option("--json", help="A JSON list on standard output, an object a policy; nothing else.")
    ] = False,
) -> None:
    """Choose a configuration for each query: its accuracy, what all use of each resource, and what is possible."""
    from windlass.cli.option_checks import TOLD, check_apart
    from windlass.cli.plan.solve import solve_command

    check_apart(context, "--json", ("--explain",), TOLD)
    names = tuple(name.strip() for name in policy.split(",") if name.strip())
    solve_command(queries, cluster, names, seed=seed, explain=explain, as_json=json)


@plan_app.command("profile")
def profile(
    pipeline: Annotated[
        Path, typer.Argument(help="A pipeline (.yaml), such as examples/plan/pipeline.yaml.")
    ],
    clip: Annotated[Path, typer.Argument(help="A clip, such as `windlass plan clip` draws.")],
    truth: Annotated[Path, typer.Option("--truth", help="The clip's true tracks (.csv).")],
    cache: Annotated[
        str, typer.Option("--cache", help="Bytes of outputs to keep at most, as in 900MB.")
    ] = "900MB",
    out: Annotated[Path, typer.Option("--out", help="The profile to write (.parquet).")] = Path(
        "profile.parquet"
    ),
    report: Annotated[
        Path | None, typer.Option("--report", help="One self-contained HTML file to write.")
    ] = None,
    alone: Annotated[
        bool,
        typer.Option("--alone", help="Run each plan by itself too: what it takes, and the same answers?"),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON object on standard output, nothing else.")
    ] = False,
) -> None:
    """Run all plans of a video pipeline on a clip: how accurate each is, its CPU seconds, and the bytes it sends."""
    from windlass.cli.plan.profile import ProfileOptions, bytes_of, profile_command

    asked = ProfileOptions(pipeline, clip, truth, bytes_of(cache), alone, out, report)
    profile_command(asked, as_json=json)


@plan_app.command("clip")
def clip(
    out: Annotated[Path, typer.Argument(help="The clip to write (.mp4).")],
    truth: Annotated[Path, typer.Option("--truth", help="Its true tracks to write (.csv).")],
    seed: Annotated[int, typer.Option("--seed", min=0)] = 1,
    seconds: Annotated[float, typer.Option("--seconds")] = 10.0,
    weather: Annotated[str, typer.Option("--weather", help="clear, rain, snow or night.")] = "clear",
    density: Annotated[
        float, typer.Option("--density", help="1: a car every 4 s a lane, a person every 5 s a pavement.")
    ] = 1.0,
    size: Annotated[str, typer.Option("--size", help="Width and height, pixels.")] = "1280x720",
    rate: Annotated[float, typer.Option("--rate", help="Frames a second.")] = 30.0,
) -> None:
    """Draw a clip of traffic, with the true tracks of all who are on it."""
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
            help="Queries (.yaml), each with its plans, clip, truth and pipeline; changes of it are followed."
        ),
    ],
    cluster: Annotated[
        Path, typer.Option("--cluster", help="Cameras, clusters and cloud (.yaml), with cores and links.")
    ],
    engine: Annotated[str, typer.Option("--engine", help="ray.")] = "ray",
    policy: Annotated[str, typer.Option("--policy", help="A name, or a file of your own.")] = "refined",
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            help="Of a Ray cluster with nodes labelled site=NAME.",
            show_default="a private one, on this machine",
        ),
    ] = None,
    nodes: Annotated[
        int, typer.Option("--nodes", min=1, help="Private: raylets of each cluster that has others below it.")
    ] = 1,
    real_links: Annotated[
        bool, typer.Option("--real-links", help="Do not emulate links: clusters are truly apart.")
    ] = False,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="How long.", show_default="until it is interrupted")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be started and planned; start nothing.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of policies that draw.")] = 1,
    json: Annotated[
        bool, typer.Option("--json", help="A JSON object on standard output, nothing else.")
    ] = False,
) -> None:
    """Run queries on real nodes as planned, plan anew when something changes, and measure accuracy and lateness."""
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
