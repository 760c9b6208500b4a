"""What is measured of jobs over a fleet."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.results import HIGHER, LOWER, SOMETIMES
from windlass.results.metrics.isolated import alone
from windlass.sim.fleet.result import FleetRun

#: Bytes that a site sends for each sub-job that it has: the job's number and its remaining tasks.
BYTES_PER_SUBJOB = 8


@dataclass(frozen=True, slots=True)
class FleetMetrics:
    """Metrics of jobs over a fleet; what does not apply to a run is NaN.

    Parameters
    ----------
    jobs, tasks
        How many ran.
    mean_response_s, median_response_s, p90_response_s, p95_response_s
        End − submit, s.
    mean_slowdown
        Mean of the response over the time the job would take alone, where all tasks are fixed to sites.
    makespan_s
        From the first submit to the last end, s.
    utilisation
        Share of slot-seconds held between the first submit and the last end.
    arriving_utilisation
        The same up to the last submit: while jobs arrive.
    wan_bytes
        Sent between sites, where there are links.
    egress_usd
        What sending it costs by the price of each pair of sites; 0 without prices.
    remote_share
        Share of map tasks that read from another site, where there are links.
    waiting_jobs
        Jobs with tasks left to start, mean over decisions on the order of jobs.
    reported_bytes
        Bytes that sites send to the scheduler for one of these: 8 a sub-job with tasks left.
    decisions
        Number of calls of the policy.
    """

    jobs: int
    tasks: int
    mean_response_s: float = field(metadata=LOWER)
    median_response_s: float = field(metadata=LOWER)
    p90_response_s: float = field(metadata=LOWER)
    p95_response_s: float = field(metadata=LOWER)
    mean_slowdown: float = field(metadata={**LOWER, **SOMETIMES})
    makespan_s: float = field(metadata=LOWER)
    utilisation: float = field(metadata=HIGHER)
    arriving_utilisation: float = field(metadata=HIGHER)
    waiting_jobs: float = field(metadata={**LOWER, **SOMETIMES})
    reported_bytes: float = field(metadata=SOMETIMES)
    wan_bytes: float = field(metadata=SOMETIMES)
    egress_usd: float = field(metadata=SOMETIMES)
    remote_share: float = field(metadata=SOMETIMES)
    decisions: int


def service_seconds(run: FleetRun) -> NDArray[np.float64]:
    """(J,) s that each job takes when it is alone, where its tasks are fixed to sites; else NaN.

    Examples
    --------
    >>> from windlass.model.fleet import Fleet, FleetCase, fixed_table
    >>> from windlass.order.fleet.policies.swag import Swag
    >>> from windlass.sim.fleet import run_ordered
    >>> case = FleetCase(Fleet.of([2, 1]), fixed_table([0, 1], [[2, 0], [1, 1]], [1.0, 3.0, 5.0, 7.0]))
    >>> service_seconds(run_ordered(case, Swag()))
    array([3., 7.])
    """
    jobs = run.jobs
    if not jobs.homes:
        return np.full(len(jobs), np.nan)
    return alone(jobs.part0, jobs.site, jobs.task0, jobs.duration, run.fleet.slots)


def arriving_utilisation(run: FleetRun) -> float:
    """Share of slots in use between the first and the last submit."""
    begin, end = run.jobs.submit[0], run.jobs.submit[-1]
    if end <= begin:
        return math.nan
    busy = np.minimum(run.computed, end) - np.minimum(run.begun, end)
    return float(busy.sum() / (run.fleet.slots.sum() * (end - begin)))


def fleet_metrics(run: FleetRun, service_s: NDArray[np.float64]) -> FleetMetrics:
    """Metrics of a finished run.

    Parameters
    ----------
    run
        All its jobs have ended.
    service_s
        (J,) what :func:`service_seconds` says of it; given, because a table of its jobs needs it too.

    Returns
    -------
    FleetMetrics
        Over all jobs.

    Examples
    --------
    >>> from windlass.model.fleet import Fleet, FleetCase, fixed_table
    >>> from windlass.order.fleet.policies.swag import Swag
    >>> from windlass.sim.fleet import run_ordered
    >>> case = FleetCase(Fleet.of([2, 1]), fixed_table([0, 1], [[2, 0], [1, 1]], [1.0, 3.0, 5.0, 7.0]))
    >>> run = run_ordered(case, Swag())
    >>> metrics = fleet_metrics(run, service_seconds(run))
    >>> metrics.mean_response_s, metrics.mean_slowdown
    (5.0, 1.0)
    """
    # A job of no time at all has no slowdown; it counts as one that is not slowed.
    slowdown = np.divide(run.response, service_s, out=np.ones_like(service_s), where=~(service_s <= 0))
    span = float(run.end.max() - run.jobs.submit.min())
    held = float((run.computed - run.begun).sum())
    maps = run.source >= 0
    remote = maps & (run.source != run.site)
    linked, ordered = run.fleet.linked, run.jobs_reported > 0
    return FleetMetrics(
        jobs=len(run.jobs),
        tasks=len(run.begun),
        mean_response_s=float(run.response.mean()),
        median_response_s=float(np.median(run.response)),
        p90_response_s=float(np.percentile(run.response, 90)),
        p95_response_s=float(np.percentile(run.response, 95)),
        mean_slowdown=float(slowdown.mean()),
        makespan_s=span,
        utilisation=held / (float(run.fleet.slots.sum()) * span) if span > 0 else 0.0,
        arriving_utilisation=arriving_utilisation(run),
        wan_bytes=float(run.sent.sum()) if linked else math.nan,
        egress_usd=float((run.carried * run.fleet.price).sum()) if linked else math.nan,
        remote_share=float(remote.sum() / max(maps.sum(), 1)) if linked else math.nan,
        waiting_jobs=run.jobs_reported / run.decisions if ordered else math.nan,
        reported_bytes=BYTES_PER_SUBJOB * run.subjobs_reported / run.decisions if ordered else math.nan,
        decisions=run.decisions,
    )
