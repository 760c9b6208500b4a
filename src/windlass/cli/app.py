"""The command ``windlass``: its commands in panels, in the order in which they are needed."""

from __future__ import annotations

import functools
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from windlass.cli.act import act_app
from windlass.cli.agent import agent_app
from windlass.cli.commands import compare, explain, run, validate
from windlass.cli.control import mcp, serve, top, ui
from windlass.cli.htcondor import htcondor_app
from windlass.cli.inspection_commands import check, list_, trace, when
from windlass.cli.journal import journal_app
from windlass.cli.pbs import pbs_app
from windlass.cli.plan import plan_app
from windlass.cli.prediction_commands import calibrate, what_if
from windlass.cli.scaling import k8s_app, ray_app
from windlass.cli.slurm import slurm_app
from windlass.cli.subcommands import admit_app, cluster_app, forecast, place, reproduce
from windlass.model.version import version

_SIMULATION = "Simulation"
_REAL = "Real engines"
_CONTROL = "Control plane"
_MODELS = "Models and papers"
_ORDER = (
    *("run", "compare", "explain", "when", "what-if", "calibrate", "check", "validate", "trace", "list"),
    *("slurm", "pbs", "htcondor", "k8s", "ray", "agent"),
    *("serve", "ui", "top", "mcp", "act", "journal"),
    *("place", "cluster", "forecast", "plan", "admit", "reproduce"),
)


class _Ordered(TyperGroup):
    """The commands in the order of the help; Typer would list groups before commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=_ORDER.index)


app = typer.Typer(
    cls=_Ordered,
    help="Compare scheduling policies on a simulated cluster, and run them on real ones.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for command in (run, compare, explain, when, what_if, calibrate, check, validate, trace):
    app.command(rich_help_panel=_SIMULATION)(command)
app.command("list", rich_help_panel=_SIMULATION)(list_)
app.add_typer(slurm_app, name="slurm", rich_help_panel=_REAL)
app.add_typer(pbs_app, name="pbs", rich_help_panel=_REAL)
app.add_typer(htcondor_app, name="htcondor", rich_help_panel=_REAL)
app.add_typer(k8s_app, name="k8s", rich_help_panel=_REAL)
app.add_typer(ray_app, name="ray", rich_help_panel=_REAL)
app.add_typer(agent_app, name="agent", rich_help_panel=_REAL)
app.command(rich_help_panel=_CONTROL)(serve)
app.command(rich_help_panel=_CONTROL)(ui)
app.command(rich_help_panel=_CONTROL)(top)
app.command(rich_help_panel=_CONTROL)(mcp)
app.add_typer(act_app, name="act", rich_help_panel=_CONTROL)
app.add_typer(journal_app, name="journal", rich_help_panel=_CONTROL)
app.command(rich_help_panel=_MODELS)(place)
app.add_typer(cluster_app, name="cluster", rich_help_panel=_MODELS)
app.command(rich_help_panel=_MODELS)(forecast)
app.add_typer(plan_app, name="plan", rich_help_panel=_MODELS)
app.add_typer(admit_app, name="admit", rich_help_panel=_MODELS)
app.command(rich_help_panel=_MODELS)(reproduce)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"windlass {version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    pass


@functools.cache
def commands() -> Any:
    """Return the commands in the form that Click runs. They are built once, which takes 40 ms."""
    return typer.main.get_command(app)
