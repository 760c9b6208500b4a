"""``windlass htcondor``: a policy that orders jobs of HTCondor."""

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
    from windlass.engines.htcondor.site import CondorSite

htcondor_app = typer.Typer(help="Order jobs of HTCondor by a policy.", no_args_is_help=True)

_Queue = Annotated[str, typer.Option("--queue", help="Value of WindlassQueue whose held jobs are released.")]
_Journal = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        help="File to log decisions to.",
        show_default="~/.local/state/windlass/htcondor-….journal",
    ),
]
_Schedd = Annotated[
    str | None, typer.Option("--schedd", help="Name of the condor_schedd.", show_default="this host's")
]
_Pool = Annotated[
    str | None,
    typer.Option("--pool", help="Host of the central manager.", show_default="that of the configuration"),
]


@htcondor_app.command()
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
    schedd: _Schedd = None,
    pool: _Pool = None,
    look: Annotated[float, typer.Option("--look", help="Polling interval (s).")] = 1.0,
    patience: Annotated[
        float, typer.Option("--patience", help="Give up after HTCondor has been unreachable this long (s).")
    ] = 300.0,
    metrics: Metrics = None,
    log_format: Log = LogFormat.TEXT,
) -> None:
    """Start jobs that were submitted on hold with this WindlassQueue, in the order of a policy."""
    chosen = QueueChoices(policies, journal, look, dry_run, until_idle, keep_held, metrics, log_format)
    drive_queue(context, chosen, "HTCondor", lambda: _site(queue, (schedd, pool), patience, chosen.notify))


@htcondor_app.command("give-back")
def give_back(queue: _Queue, journal: _Journal = None, schedd: _Schedd = None, pool: _Pool = None) -> None:
    """Release all jobs that Windlass holds, so that HTCondor starts them; for use after a driver was killed."""
    give_back_queue(_site(queue, (schedd, pool), 60.0, log_line), journal)


def _site(
    queue: str, place: tuple[str | None, str | None], patience: float, notify: Callable[[str], None]
) -> CondorSite:
    """Return the jobs with one value of ``WindlassQueue``, of a queue daemon and pool."""
    from windlass.engines.htcondor.client import CondorClient
    from windlass.engines.htcondor.site import CondorSite
    from windlass.model.values import number

    number("--patience", patience, 0.0)
    schedd, pool = place
    return CondorSite(CondorClient(patience=patience, notify=notify, schedd=schedd, pool=pool), queue)
