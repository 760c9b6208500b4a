"""Metrics of jobs over the sites of a fleet."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.results import HIGHER, LOWER, SOMETIMES
from windlass.results.metrics.isolated import alone
from windlass.sim.fleet.result import FleetRun

#: Bytes that a site reports for each of its sub-jobs: the job's number and its number of remaining tasks.
BYTES_PER_SUBJOB = 8


@dataclass(frozen=True, slots=True)
class FleetMetrics:
    """Metrics of jobs over a fleet; a metric that does not apply to a run is NaN.

    Parameters
    ----------
    jobs, tasks
        Number of jobs and tasks.
    mean_response_s, median_response_s, p90_response_s, p95_response_s
        Time from submission to end, s.
    mean_slowdown
        Mean of the response over the time that the job would take alone; NaN unless all tasks are fixed to sites.
    makespan_s
        Time from the first submission to the last end, s.
    utilisation
        Share of slot-seconds in use between the first submission and the last end.
    arriving_utilisation
        The same up to the last submission, that is, while jobs arrive.
    wan_bytes
        Bytes sent between sites; NaN without links.
    egress_usd
        Cost of sending them by the price of each pair of sites, USD; 0 without prices, NaN without links.
    remote_share
        Share of map tasks that read from another site; NaN without links.
    waiting_jobs
        Number of jobs with tasks left to start, as a mean over decisions on the order of jobs.
    reported_bytes
        Bytes that sites send to the scheduler for one such decision: 8 per sub-job with tasks left.
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
    """Return (J,) the time that each job takes alone, s; NaN unless tasks are fixed to sites.

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
    """Return the share of slots in use between the first and the last submission; NaN without time between them."""
    begin, end = run.jobs.submit[0], run.jobs.submit[-1]
    if end <= begin:
        return math.nan
    busy = np.minimum(run.computed, end) - np.minimum(run.begun, end)
    return float(busy.sum() / (run.fleet.slots.sum() * (end - begin)))


def fleet_metrics(run: FleetRun, service_s: NDArray[np.float64]) -> FleetMetrics:
    """Return the metrics of a finished run, over all jobs.

    Parameters
    ----------
    run
        A run in which all jobs have ended.
    service_s
        (J,) the result of :func:`service_seconds`. It is a parameter because the caller's jobs table has it, too.

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
    # A job without any run time has no slowdown and counts as 1.
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
