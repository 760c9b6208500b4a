"""The engine of ``windlass slurm drive``: that of ``windlass serve``, alone, with the command's own log and status."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from windlass.agent.options import Address
    from windlass.control.slurm.engine import SlurmEngine, SlurmSettings
    from windlass.engines.slurm.client import Client


def run_slurm(
    read: Callable[[], SlurmSettings],
    client: Client,
    notify: Callable[[str], None],
    metrics: Address | None,
    **words: Any,
) -> None:
    """Drive a queue until no job is left, or until a signal.

    Parameters
    ----------
    read
        Returns the settings; called again at each reload.
    client
        The client of Slurm that checked the options.
    notify
        Called with each line of the driver's log.
    metrics
        Address of the metrics; None for none.
    words
        Further arguments of :func:`~windlass.cli.one_engine.run_engine`.
    """
    from windlass.cli.metrics import metrics_served
    from windlass.cli.one_engine import run_engine
    from windlass.control.serve import Reload
    from windlass.control.slurm.engine import SlurmEngine
    from windlass.engines.batch.metrics import driver_metrics
    from windlass.engines.batch.status import DriverStatus

    status, named = DriverStatus(contact=client.contact), list[str]()

    def engine() -> SlurmEngine:
        settings = read()
        made = SlurmEngine(settings, acts=True, report=notify, runner=client.run, new_status=lambda: status)
        named[:] = (f"{decision}={policy.name}" for decision, policy in sorted(settings.made().items()))
        return made

    reload = Reload(
        lambda: [engine()],
        subject="the driver goes",
        done=lambda: f"reloaded; waiting jobs stayed held: {', '.join(named)}",
    )
    with metrics_served(metrics, driver_metrics("slurm", "Slurm", status)):
        # After SIGTERM, status 0 means that no job is left held by mistake.
        run_engine(
            engine(),
            "interrupted; running jobs continue",
            notify,
            left_held=lambda: status.left_held > 0,
            reload=reload,
            **words,
        )
