"""The present state of an autoscaler, and its metrics for Prometheus."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from windlass.engines.loop_health import LoopHealth
from windlass.engines.prometheus import DriverMetric, MetricSource


@dataclass(slots=True)
class ScaleStatus:
    """Counters and current values of an autoscaler; only its own thread writes them.

    Parameters
    ----------
    decisions, changes, failures
        Decisions, those that changed the totals, and requests that failed.
    requested, ready, coming, used
        Instances of all types: the last totals, and those that the last poll found ready, starting, and in use.
    running, waiting
        Jobs that the last poll found.
    polls, poll_seconds, last_poll_seconds
        Polls of the cluster that it answered, the time that all of them and the last one took, s.
    polled
        Unix time of the last of them, s; NaN before the first.
    away
        True from a failed request until the requests of a decision succeed.
    outages
        How often such a time began.
    health
        Whether its loop makes progress.
    """

    decisions: int = 0
    changes: int = 0
    failures: int = 0
    requested: int = 0
    ready: int = 0
    coming: int = 0
    used: int = 0
    running: int = 0
    waiting: int = 0
    polls: int = 0
    poll_seconds: float = 0.0
    last_poll_seconds: float = 0.0
    polled: float = math.nan
    away: bool = False
    outages: int = 0
    health: LoopHealth = field(default_factory=LoopHealth, compare=False)


_METRICS = (
    DriverMetric("decisions", "Decisions of the scaling policy.", counts=True),
    DriverMetric("changes", "Decisions that changed the requested instances.", counts=True),
    DriverMetric("failures", "Requests that failed.", counts=True),
    DriverMetric("requested_instances", "Instances that the last decision requests in total."),
    DriverMetric("ready_instances", "Instances that are ready."),
    DriverMetric("starting_instances", "Instances that start."),
    DriverMetric("used_instances", "Instances with a job."),
    DriverMetric("running_jobs", "Jobs that run."),
    DriverMetric("queue_jobs", "Jobs that wait."),
    DriverMetric("polls", "Polls of the cluster.", counts=True),
    DriverMetric("poll_seconds", "Time that polls of the cluster took, s.", counts=True),
    DriverMetric("last_poll_seconds", "Time that the last poll of the cluster took, s."),
    DriverMetric("poll_age_seconds", "Time since the last poll of the cluster, s."),
    DriverMetric("unreachable", "1 after a failed request, 0 once all requests of a decision succeed."),
    DriverMetric("outages", "How often requests began to fail.", counts=True),
)


def scale_metrics(status: ScaleStatus) -> MetricSource:
    """Return the metrics of an autoscaler, whose names begin with ``windlass_scale_``."""

    def values(now: float) -> tuple[float, ...]:
        return (
            status.decisions,
            status.changes,
            status.failures,
            status.requested,
            status.ready,
            status.coming,
            status.used,
            status.running,
            status.waiting,
            status.polls,
            status.poll_seconds,
            status.last_poll_seconds,
            math.nan if math.isnan(status.polled) else max(0.0, now - status.polled),
            float(status.away),
            status.outages,
        )

    return MetricSource("windlass_scale_", _METRICS, values, status.health)
