"""Metrics of one cluster with several kinds of load."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.results import COST, HEADLINE, HIGHER, LOWER, SOMETIMES, TRADED
from windlass.results.metrics.site import bounded_slowdown
from windlass.sim.fleet.result import FleetRun
from windlass.sim.instances.result import Scaled
from windlass.sim.queries.result import Streamed
from windlass.sim.shares.result import Shared
from windlass.sim.site.result import Replay
from windlass.sim.telemetry.result import Observed
from windlass.sim.workers.result import Dispatched

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClusterMetrics:
    """Metrics of all loads of a kind together, at all sites; NaN for kinds that a cluster does not have.

    Parameters
    ----------
    mean_job_wait_s, p95_job_wait_s
        Rigid jobs: time from submission to the start of the attempt that completed, s.
    mean_job_bounded_slowdown
        Rigid jobs: mean of max(1, response / max(run time, 10 s)).
    lost_attempts
        Attempts of rigid jobs that were killed because their cores were removed.
    guests
        Rigid jobs that ran on another job's cores.
    mean_staged_response_s, p95_staged_response_s
        Staged jobs: time from submission to end, s.
    sent_gb
        Data that staged jobs send between sites, GB (10⁹ bytes).
    mean_task_response_s, p99_task_response_s
        Short tasks that ran: time from arrival to end, s; for tasks that arrive together, to the end of the last one.
    refused_tasks, spilled_tasks
        Short tasks that all nodes of all tried sites rejected and that did not run, and those that ran at another site.
    moved_tasks
        Short tasks that lost their node and were dispatched again.
    admit_downtime
        Share of steps and present nodes at which a node rejected tasks.
    mean_vector_wait_s, p95_vector_wait_s
        Jobs for instances: time from submission to start, s.
    cost_usd
        Price of all instances, each from its launch until it was gone or the last load of its site had ended, USD.
    query_accuracy
        Mean accuracy over all seconds of all queries; lost frames count as 0.
    query_core_hours
        Core-hours that queries held.
    used_share
        Share of the sites' cores that loads held, on average over the simulated time; short tasks hold none.
    jobs, staged_jobs, tasks, vector_jobs, queries
        Numbers of rigid jobs, staged jobs, short tasks, jobs for instances, and queries.
    mean_part_response_s, p95_part_response_s, part_jobs
        Jobs of loads of your own that ended: time from submission to end, s, and their number.
    """

    mean_job_wait_s: float = field(metadata={**LOWER, **SOMETIMES, **HEADLINE, **TRADED})
    p95_job_wait_s: float = field(metadata={**LOWER, **SOMETIMES})
    mean_job_bounded_slowdown: float = field(metadata={**LOWER, **SOMETIMES})
    lost_attempts: float = field(metadata={**LOWER, **SOMETIMES})
    guests: float = field(metadata=SOMETIMES)
    mean_staged_response_s: float = field(metadata={**LOWER, **SOMETIMES, **HEADLINE})
    p95_staged_response_s: float = field(metadata={**LOWER, **SOMETIMES})
    sent_gb: float = field(metadata=SOMETIMES)
    mean_task_response_s: float = field(metadata={**LOWER, **SOMETIMES, **HEADLINE})
    p99_task_response_s: float = field(metadata={**LOWER, **SOMETIMES, **HEADLINE, **TRADED})
    refused_tasks: float = field(metadata={**LOWER, **SOMETIMES})
    spilled_tasks: float = field(metadata=SOMETIMES)
    moved_tasks: float = field(metadata=SOMETIMES)
    admit_downtime: float = field(metadata=SOMETIMES)
    mean_vector_wait_s: float = field(metadata={**LOWER, **SOMETIMES, **HEADLINE, **TRADED})
    p95_vector_wait_s: float = field(metadata={**LOWER, **SOMETIMES})
    cost_usd: float = field(metadata={**LOWER, **SOMETIMES, **HEADLINE, **COST})
    query_accuracy: float = field(metadata={**HIGHER, **SOMETIMES, **HEADLINE})
    query_core_hours: float = field(metadata=SOMETIMES)
    used_share: float
    jobs: int
    staged_jobs: int
    tasks: int
    vector_jobs: int
    queries: int
    mean_part_response_s: float = field(default=math.nan, metadata={**LOWER, **SOMETIMES, **HEADLINE})
    p95_part_response_s: float = field(default=math.nan, metadata={**LOWER, **SOMETIMES})
    part_jobs: float = field(default=math.nan, metadata=SOMETIMES)


def cluster_metrics(
    *,
    rigid: Sequence[Replay],
    shared: Sequence[Shared],
    staged: Sequence[FleetRun],
    tasks: Sequence[Dispatched],
    observed: Sequence[Observed],
    scaled: Sequence[Scaled],
    queries: Sequence[Streamed],
    used_share: float,
    parts: Sequence[_Floats] = (),
) -> ClusterMetrics:
    """Return the metrics of a finished run of a cluster.

    Parameters
    ----------
    rigid, shared
        Rigid jobs by load and site, and the records of those that shared allocations.
    staged, tasks, observed
        Staged jobs by load; short tasks by site, and the telemetry of their nodes.
    scaled, queries
        Instances by site, and streaming queries.
    used_share
        Share of the sites' cores that loads held.
    parts
        Responses of the jobs of loads of your own, s.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> from windlass.sim import replay
    >>> done = replay(JobTable.of(submit=[0, 0], run=[4, 4], procs=[1, 1]), 1, Fcfs())
    >>> found = cluster_metrics(
    ...     rigid=[done], shared=[], staged=[], tasks=[], observed=[], scaled=[], queries=[], used_share=1.0)
    >>> found.mean_job_wait_s, found.jobs, found.tasks
    (2.0, 2, 0)
    """
    wait = _joined([each.start - each.jobs.submit for each in rigid])
    slowdown = _joined([bounded_slowdown(each.jobs.submit, each.start, each.end) for each in rigid])
    staged_response = _joined([each.end - each.jobs.submit for each in staged])
    response = _joined([each.job_response[~np.isnan(each.job_response)] for each in tasks])
    vector_wait = _joined([each.start - each.jobs.submit for each in scaled])
    of_parts = _joined(parts)
    of_parts = of_parts[~np.isnan(of_parts)]
    stays = sum(float((each.stays.leave - each.stays.arrive).sum()) for each in queries)
    return ClusterMetrics(
        mean_job_wait_s=_mean(wait),
        p95_job_wait_s=_percentile(wait, 95),
        mean_job_bounded_slowdown=_mean(slowdown),
        lost_attempts=sum(len(each.lost) for each in rigid) if rigid else math.nan,
        guests=sum(len(np.unique(each.guest)) for each in shared) if shared else math.nan,
        mean_staged_response_s=_mean(staged_response),
        p95_staged_response_s=_percentile(staged_response, 95),
        sent_gb=sum(float(each.sent.sum()) for each in staged) / 1e9 if staged else math.nan,
        mean_task_response_s=_mean(response),
        p99_task_response_s=_percentile(response, 99),
        refused_tasks=sum(each.refusals for each in tasks) if observed else math.nan,
        spilled_tasks=sum(each.spilled for each in tasks) if observed else math.nan,
        moved_tasks=sum(each.moved for each in tasks) if tasks else math.nan,
        admit_downtime=_downtime(observed),
        mean_vector_wait_s=_mean(vector_wait),
        p95_vector_wait_s=_percentile(vector_wait, 95),
        cost_usd=sum(_cost(each) for each in scaled) if scaled else math.nan,
        query_accuracy=sum(float(each.accurate.sum()) for each in queries) / stays if stays > 0 else math.nan,
        query_core_hours=sum(_core_hours(each) for each in queries) if queries else math.nan,
        used_share=used_share,
        jobs=len(wait),
        staged_jobs=len(staged_response),
        tasks=sum(len(each.submit) for each in tasks),
        vector_jobs=len(vector_wait),
        queries=sum(len(each.stays) for each in queries),
        mean_part_response_s=_mean(of_parts),
        p95_part_response_s=_percentile(of_parts, 95),
        part_jobs=len(of_parts) if parts else math.nan,
    )


def _joined(values: Sequence[_Floats]) -> _Floats:
    return np.concatenate(values) if values else np.empty(0)


def _mean(values: _Floats) -> float:
    return float(values.mean()) if len(values) else math.nan


def _percentile(values: _Floats, share: float) -> float:
    return float(np.percentile(values, share)) if len(values) else math.nan


def _cost(done: Scaled) -> float:
    """Return the price of the instances of a site, USD."""
    price = np.array([kind.price for kind in done.fleet.types])[done.launches.kind]
    return float((done.paid() * price).sum()) / 3600.0


def _core_hours(done: Streamed) -> float:
    return float(done.course.seconds @ done.course.held.sum(axis=1)) / 3600.0


def _downtime(observed: Sequence[Observed]) -> float:
    """Return the share of steps and present nodes at which a node rejected tasks."""
    steps = sum(int(each.present.sum()) for each in observed)
    return sum(int(each.rejects.sum()) for each in observed) / steps if steps else math.nan
