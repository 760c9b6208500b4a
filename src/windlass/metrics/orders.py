"""What is measured of jobs over many sites."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.metrics.alone import alone
from windlass.results import HIGHER, LOWER
from windlass.sim.orders.replay import GeoReplay

#: Bytes that a site sends for each sub-job that it has: the job's number and its remaining tasks.
BYTES_PER_SUBJOB = 8


@dataclass(frozen=True, slots=True)
class GeoOrderMetrics:
    """Metrics of jobs over many sites.

    Parameters
    ----------
    jobs
        How many ran.
    mean_response_s, median_response_s, p95_response_s
        From arrival to the end of the last task, s.
    mean_slowdown
        Mean of the response over the time the job would take alone.
    utilisation
        Share of slots in use between the first and the last arrival.
    waiting_jobs
        Jobs with tasks left to start, mean over decisions.
    told_bytes
        What sites tell the scheduler for one decision: 8 bytes a sub-job with tasks left.
    decisions
        How often the policy was asked.
    """

    jobs: int
    mean_response_s: float = field(metadata=LOWER)
    median_response_s: float = field(metadata=LOWER)
    p95_response_s: float = field(metadata=LOWER)
    mean_slowdown: float = field(metadata=LOWER)
    utilisation: float = field(metadata=HIGHER)
    waiting_jobs: float = field(metadata=LOWER)
    told_bytes: float
    decisions: int


def service_seconds(done: GeoReplay) -> NDArray[np.float64]:
    """(J,) s that each job takes when it is alone."""
    work = done.workload
    return alone(work.first, work.site, work.task0, work.duration, work.slots)


def utilisation(done: GeoReplay) -> float:
    """Share of slots in use between the first and the last arrival."""
    work = done.workload
    begin, end = work.submit[0], work.submit[-1]
    if end <= begin:
        return float("nan")
    busy = np.minimum(done.started + work.duration, end) - np.minimum(done.started, end)
    return float(busy.sum() / (work.slots.sum() * (end - begin)))


def geo_order_metrics(done: GeoReplay) -> GeoOrderMetrics:
    """Metrics of a finished run.

    Examples
    --------
    >>> from windlass.order.fleet.policies.swag import Swag
    >>> from windlass.sim.orders.replay import replay_geo
    >>> from windlass.model.orders import workload_of
    >>> work = workload_of([0, 1], [[2, 0], [1, 1]], [1.0, 3.0, 5.0, 7.0], [2, 1])
    >>> metrics = geo_order_metrics(replay_geo(work, Swag()))
    >>> metrics.mean_response_s, metrics.mean_slowdown
    (5.0, 1.0)
    """
    response = done.end - done.workload.submit
    alone_s = service_seconds(done)
    # A job of no time at all has no slowdown; it counts as one that is not slowed.
    slowdown = np.divide(response, alone_s, out=np.ones_like(response), where=alone_s > 0)
    asked = max(done.decisions, 1)
    return GeoOrderMetrics(
        jobs=len(response),
        mean_response_s=float(response.mean()),
        median_response_s=float(np.median(response)),
        p95_response_s=float(np.percentile(response, 95)),
        mean_slowdown=float(slowdown.mean()),
        utilisation=utilisation(done),
        waiting_jobs=done.waiting_jobs / asked,
        told_bytes=BYTES_PER_SUBJOB * done.waiting_subjobs / asked,
        decisions=done.decisions,
    )
