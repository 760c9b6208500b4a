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
    from windlass.cli.plan.solve import solve_command

    names = tuple(name.strip() for name in policy.split(",") if name.strip())
    solve_command(queries, cluster, names, seed=seed, explain=explain, as_json=json)
