"""``windlass pbs``: a policy that orders a queue of OpenPBS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from windlass.cli import completion
from windlass.cli.held_queue import QueueChoices, drive_queue, give_back_queue
from windlass.cli.log_format import Log, LogFormat
from windlass.cli.metrics import Metrics
from windlass.cli.output import log_line

if TYPE_CHECKING:
    from windlass.engines.pbs.site import PbsSite

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
    chosen = QueueChoices(policies, journal, look, dry_run, until_idle, keep_held, metrics, log_format)
    drive_queue(context, chosen, "PBS", lambda: _site(queue, conf, patience, chosen.notify))


@pbs_app.command("give-back")
def give_back(queue: _Queue, journal: _Journal = None, conf: _Conf = None) -> None:
    """Release all jobs of a queue that Windlass holds, so that PBS starts them; for use after a driver was killed."""
    give_back_queue(_site(queue, conf, 60.0, log_line), journal)


def _site(queue: str, conf: Path | None, patience: float, notify: Callable[[str], None]) -> PbsSite:
    """Return a queue of the PBS that a ``pbs.conf`` describes, or that the system selects."""
    from windlass.engines.pbs.client import PbsClient, PbsCommands
    from windlass.engines.pbs.site import PbsSite
    from windlass.model import InputError
    from windlass.model.values import number

    number("--patience", patience, 0.0)
    if conf is not None and not conf.is_file():
        raise InputError(f"--conf: {conf}: no such file")
    client = PbsClient(PbsCommands(conf), patience=patience, notify=notify)
    client.check_queue(queue)
    return PbsSite(client, queue)
