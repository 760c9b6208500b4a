"""``windlass pbs``: a policy that orders a queue of OpenPBS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from windlass.cli import completion
from windlass.cli.log_format import Log, LogFormat
from windlass.cli.metrics import Metrics, metrics_address, metrics_served
from windlass.cli.output import log_json, log_line, note, print_lines

if TYPE_CHECKING:
    from windlass.engines.pbs.client import PbsClient

pbs_app = typer.Typer(help="Order a queue of OpenPBS by a policy.", no_args_is_help=True)

_Queue = Annotated[str, typer.Option("--queue", help="Execution queue whose held jobs are released.")]
_Journal = Annotated[
    Path | None,
    typer.Option(
        "--journal", help="File to log decisions to.", show_default="~/.local/state/windlass/pbs-….journal"
    ),
]
_Conf = Annotated[
    Path | None,
    typer.Option("--conf", help="File pbs.conf.", show_default="$PBS_CONF_FILE, or the system's"),
]


@pbs_app.command()
def drive(
    context: typer.Context,
    policies: Annotated[
        str,
        typer.Option(
            "--policies",
            help="Policy of the order, as in order=easy or order=./mine.py.",
            autocompletion=completion.policies,
        ),
    ],
    queue: _Queue,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the jobs that would start now, and change nothing.")
    ] = False,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="Exit when no job is left to start.")
    ] = False,
    keep_held: Annotated[
        bool, typer.Option("--keep-held", help="Keep waiting jobs held on exit; do not release them.")
    ] = False,
    journal: _Journal = None,
    conf: _Conf = None,
    look: Annotated[float, typer.Option("--look", help="Polling interval (s).")] = 1.0,
    patience: Annotated[
        float, typer.Option("--patience", help="Give up after PBS has been unreachable this long (s).")
    ] = 300.0,
    metrics: Metrics = None,
    log_format: Log = LogFormat.TEXT,
) -> None:
    """Start jobs of a queue that were submitted with the hold o, in the order of a policy."""
    from windlass.cli.option_checks import RUN, check_apart
    from windlass.cli.signals import stopped_by_signals
    from windlass.cli.slurm_policies import read_policies
    from windlass.engines.batch.holds.driver import drive_holds, plan_holds
    from windlass.engines.batch.holds.settings import HoldDriving, HoldOptions, default_journal
    from windlass.engines.batch.metrics import driver_metrics
    from windlass.engines.batch.status import DriverStatus
    from windlass.engines.pbs.site import PbsSite
    from windlass.model.values import number
    from windlass.order.site import POLICIES as ORDER

    check_apart(context, "--dry-run", ("--until-idle", "--keep-held", "--metrics", "--log"), RUN)
    chosen = read_policies(policies, (ORDER,), "PBS")
    number("--look", look, 0.0, open_below=True)
    where = metrics_address(metrics)
    notify = log_json if log_format is LogFormat.JSON else log_line
    client = _client(conf, patience, notify)
    client.check_queue(queue)
    site = PbsSite(client, queue)
    file = journal or default_journal("pbs", site.identity())
    settings = HoldDriving(chosen, file, HoldOptions(look, until_idle), keep_held, forgets=True)
    if dry_run:
        lines = plan_holds(site, settings) or ["no job would start now"]
        print_lines([*lines, "Nothing was changed."])
        return
    status = DriverStatus(contact=client.contact)
    words: dict[str, Any] = {"report": log_json} if log_format is LogFormat.JSON else {}
    # After SIGTERM, status 0 means that no job is left held by mistake.
    end = stopped_by_signals(
        True,
        "interrupted; running jobs continue",
        terminated=lambda: int(status.left_held > 0),
        **words,
    )
    with end, metrics_served(where, driver_metrics("pbs", "PBS", status)):
        drive_holds(site, settings, notify, status)


@pbs_app.command("give-back")
def give_back(queue: _Queue, journal: _Journal = None, conf: _Conf = None) -> None:
    """Release all jobs of a queue that Windlass holds, so that PBS starts them; for use after a driver was killed."""
    from windlass.engines.batch.holds.driver import give_back_holds
    from windlass.engines.batch.holds.settings import default_journal
    from windlass.engines.pbs.site import PbsSite
    from windlass.model import BatchError

    client = _client(conf, 60.0, log_line)
    client.check_queue(queue)
    site = PbsSite(client, queue)
    found = give_back_holds(site, journal or default_journal("pbs", site.identity()), note)
    if found.released:
        print_lines([f"released: {', '.join(found.released)}"])
    if found.held:
        raise BatchError(found.problem())
    if not found.released:
        print_lines(["no job is held for Windlass"])


def _client(conf: Path | None, patience: float, notify: Callable[[str], None]) -> PbsClient:
    """Return a client of the PBS that a ``pbs.conf`` describes, or that the system selects."""
    from windlass.engines.pbs.client import PbsClient, PbsCommands
    from windlass.model import InputError

    if conf is not None and not conf.is_file():
        raise InputError(f"--conf: {conf}: no such file")
    return PbsClient(PbsCommands(conf), patience=patience, notify=notify)
