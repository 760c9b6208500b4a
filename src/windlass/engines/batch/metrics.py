"""Metrics of a driver of a batch system."""

from __future__ import annotations

import math

from windlass.engines.batch.status import DriverStatus
from windlass.engines.prometheus import DriverMetric, MetricSource


def driver_metrics(name: str, system: str, status: DriverStatus) -> MetricSource:
    """Return the metrics of a driver.

    Parameters
    ----------
    name
        The middle of each name, as in ``windlass_slurm_polls``.
    system
        The name of the batch system in their documentation.
    status
        The driver's state.
    """
    metrics = (
        DriverMetric("decisions", "Decisions of the order policy.", counts=True),
        DriverMetric("started_jobs", "Jobs that decisions released.", counts=True),
        DriverMetric("refusals", f"Releases that {system} refused.", counts=True),
        DriverMetric("queue_jobs", "Jobs of Windlass that wait and can start."),
        DriverMetric("running_jobs", "Jobs of Windlass that run."),
        DriverMetric("stuck_jobs", "Jobs of Windlass that cannot start unless something is changed."),
        DriverMetric("processors", "Processors of nodes that are up."),
        DriverMetric(
            "capacity_falls", "How often the processors of nodes that are up became fewer.", counts=True
        ),
        DriverMetric("polls", f"Polls of {system}.", counts=True),
        DriverMetric("poll_seconds", f"Time that polls of {system} took, s.", counts=True),
        DriverMetric("last_poll_seconds", f"Time that the last poll of {system} took, s."),
        DriverMetric("poll_age_seconds", f"Time since the last poll of {system}, s."),
        DriverMetric(
            "lag_seconds", "Time from the poll before the last decision until its jobs were released, s."
        ),
        DriverMetric("unreachable", f"1 if {system} does not answer, 0 if it does."),
        DriverMetric("outages", f"How often {system} stopped to answer.", counts=True),
        DriverMetric(
            "unreachable_seconds",
            f"Time without an answer of {system}, in outages that ended, s.",
            counts=True,
        ),
    )
    return MetricSource(
        f"windlass_{name}_", metrics, lambda now: metric_values(status, now), status.contact.health
    )


def metric_values(status: DriverStatus, now: float) -> tuple[float, ...]:
    """Return the values of all metrics at the Unix time ``now`` (s), in the order of :func:`driver_metrics`."""
    contact = status.contact
    return (
        status.decisions,
        status.started,
        status.refusals,
        status.waiting,
        status.running,
        status.stuck,
        status.processors,
        status.capacity_falls,
        status.polls,
        status.poll_seconds,
        status.last_poll_seconds,
        math.nan if math.isnan(status.polled) else max(0.0, now - status.polled),
        status.lag,
        float(contact.away),
        contact.outages,
        contact.lost,
    )
