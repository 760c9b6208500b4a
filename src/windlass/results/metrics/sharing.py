"""Metrics of jobs on a site where some share allocations."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.model.use import JobUse
from windlass.results import HIGHER, LOWER
from windlass.results.metrics.site import batch_metrics
from windlass.sim.shares.result import Shared
from windlass.sim.site.result import Replay

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SharingMetrics:
    """Metrics of jobs, some of which share allocations.

    Parameters
    ----------
    jobs
        Number of jobs.
    mean_wait_s, p95_wait_s
        Time from submission to start, s.
    mean_response_s
        Time from submission to end, s.
    mean_run_s
        Time from start to end, s.
    makespan_s
        Time from the first submission to the last end, s.
    cpu_utilisation
        Core-seconds that jobs used, over the site's core-seconds during the makespan.
    allocated_cpu_utilisation
        Core-seconds that jobs used, over the core-seconds that were allocated to jobs.
    mean_stretch
        Run time over the run time without sharing, mean of all jobs.
    mean_host_stretch, p95_host_stretch
        The same for hosts (:func:`hosts_of`); 1 if there were none.
    guests
        Jobs that ran on another job's cores, at least at first, in any attempt.
    cut_by_sharing
        Jobs that were stopped at their walltime, but would have ended in time without sharing.
    evicted
        Guests that were requeued.
    """

    jobs: int
    mean_wait_s: float = field(metadata=LOWER)
    p95_wait_s: float = field(metadata=LOWER)
    mean_response_s: float = field(metadata=LOWER)
    mean_run_s: float = field(metadata=LOWER)
    makespan_s: float = field(metadata=LOWER)
    cpu_utilisation: float = field(metadata=HIGHER)
    allocated_cpu_utilisation: float = field(metadata=HIGHER)
    mean_stretch: float = field(metadata=LOWER)
    mean_host_stretch: float = field(metadata=LOWER)
    p95_host_stretch: float = field(metadata=LOWER)
    guests: int
    cut_by_sharing: int = field(metadata=LOWER)
    evicted: int = field(metadata=LOWER)


def sharing_metrics(
    done: Replay, shared: Shared, use: JobUse, left: _Floats, *, kill: bool
) -> SharingMetrics:
    """Return the metrics of a finished run.

    Parameters
    ----------
    done, shared
        Starts and ends of the jobs, and the record of sharing.
    use
        Resource use of the jobs.
    left
        (n,) run time that each job had left when it was stopped, s.
    kill
        Whether jobs are stopped at their walltime.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> from windlass.model.use import UseStage
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> from windlass.sim import replay
    >>> from windlass.sim.shares.log import QuotaLog
    >>> done = replay(JobTable.of(submit=[0], run=[10], procs=[4]), 8, Fcfs())
    >>> use = JobUse.of(["montage"], [0.0], [[UseStage(10.0, cpu=50.0)]])
    >>> found = sharing_metrics(done, QuotaLog().result(10.0, 0, 0), use, np.zeros(1), kill=True)
    >>> found.cpu_utilisation, found.allocated_cpu_utilisation, found.mean_stretch
    (0.25, 0.5, 1.0)
    """
    jobs, ran = done.jobs, done.end - done.start
    plain = batch_metrics(jobs.submit, done.start, done.end, jobs.procs, done.processors)
    alone = np.minimum(jobs.run, jobs.request) if kill else jobs.run
    stretch = ran / np.where(alone > 0.0, alone, 1.0)
    stretch[alone <= 0.0] = 1.0
    hosts = hosts_of(done, shared)
    # A job stopped at its walltime has used the resources of the part that it had completed.
    part = 1.0 - left / np.where(jobs.run > 0.0, jobs.run, 1.0)
    used = float((use.core_seconds(jobs.procs) * part).sum())
    allocated = float((ran * jobs.procs).sum() - _as_guests(done, shared))
    cut = (left > 1e-6) & (jobs.run <= jobs.request) if kill else np.zeros(len(jobs), np.bool_)
    return SharingMetrics(
        jobs=len(jobs),
        mean_wait_s=plain.mean_wait_s,
        p95_wait_s=plain.p95_wait_s,
        mean_response_s=plain.mean_response_s,
        mean_run_s=float(ran.mean()),
        makespan_s=plain.makespan_s,
        cpu_utilisation=_share(used, done.processors * plain.makespan_s),
        allocated_cpu_utilisation=_share(used, allocated),
        mean_stretch=float(stretch.mean()),
        mean_host_stretch=float(stretch[hosts].mean()) if len(hosts) else 1.0,
        p95_host_stretch=float(np.percentile(stretch[hosts], 95)) if len(hosts) else 1.0,
        guests=len(np.unique(shared.guest)),
        cut_by_sharing=int(cut.sum()),
        evicted=shared.evicted,
    )


def hosts_of(done: Replay, shared: Shared) -> NDArray[np.int64]:
    """Return the jobs whose slowdown is the cost of hosting a guest.

    Only the completed attempt of a job counts, because its run time is that attempt's. A job that started it as a guest
    is no host: it was slow on another job's cores, too.

    Parameters
    ----------
    done, shared
        Starts and ends of the jobs, and the record of sharing.

    Returns
    -------
    NDArray
        (h,) rows of the job table, in ascending order.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> from windlass.sim import replay
    >>> from windlass.sim.shares.log import QuotaLog
    >>> done, log = replay(JobTable.of(submit=[0, 0], run=[10, 9], procs=[4, 4]), 8, Fcfs()), QuotaLog()
    >>> log.change(host=0, guest=1, quota=30, now=0.0, why="host idles")
    >>> hosts_of(done, log.result(10.0, evicted=0, decisions=1)).tolist()
    [0]
    """
    completed = _completed(done, shared)
    hosts = shared.host[completed[0]]
    return np.setdiff1d(hosts, shared.guest[completed[1]])


def _completed(done: Replay, shared: Shared) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (k,) whether each interval is in the host's completed attempt, and in the guest's."""
    # The completed attempt of a job is its last one.
    return shared.start >= done.start[shared.host], shared.start >= done.start[shared.guest]


def _as_guests(done: Replay, shared: Shared) -> float:
    """Return the core-seconds that guests ran on their hosts' cores, where both completed their attempts."""
    of_host, of_guest = _completed(done, shared)
    seconds = (shared.end - shared.start) * (of_host & of_guest)
    return float((seconds * done.jobs.procs[shared.guest]).sum())


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else 0.0
