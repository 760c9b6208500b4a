"""Metrics of rigid jobs on one site."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.results import HIGHER, LOWER, SOMETIMES

#: Shorter run times count as this long in the bounded slowdown, s. Otherwise very short jobs dominate its mean.
SLOWDOWN_THRESHOLD = 10.0


#: Default wait after which a job counts as starved, s.
DAY = 86400.0


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """Metrics of rigid jobs on one site.

    Parameters
    ----------
    jobs
        Number of jobs.
    mean_wait_s, median_wait_s, p95_wait_s
        Time from submission to start, s.
    mean_response_s
        Time from submission to end, s.
    mean_bounded_slowdown
        Mean of max(1, response / max(run time, 10 s)).
    utilisation
        Share of processor-seconds in use between the first submission and the last end.
    makespan_s
        Time from the first submission to the last end, s.
    p99_wait_s, max_wait_s
        Time from submission to start, s; NaN if not measured.
    users_jain
        Jain's index of the users' mean bounded slowdowns: 1 if all users have the same slowdown, down to 1/n if one of
        n users bears it all; NaN for jobs of fewer than two users.
    groups_jain, queues_jain
        The same over groups and over queues, or over partitions if a log has no queues.
    starved
        Number of jobs that waited longer than a bound, by default a day; NaN if not measured.
    """

    jobs: int
    mean_wait_s: float = field(metadata=LOWER)
    median_wait_s: float = field(metadata=LOWER)
    p95_wait_s: float = field(metadata=LOWER)
    mean_response_s: float = field(metadata=LOWER)
    mean_bounded_slowdown: float = field(metadata=LOWER)
    utilisation: float = field(metadata=HIGHER)
    makespan_s: float = field(metadata=LOWER)
    p99_wait_s: float = field(default=math.nan, metadata={**LOWER, **SOMETIMES})
    max_wait_s: float = field(default=math.nan, metadata={**LOWER, **SOMETIMES})
    users_jain: float = field(default=math.nan, metadata={**HIGHER, **SOMETIMES})
    groups_jain: float = field(default=math.nan, metadata={**HIGHER, **SOMETIMES})
    queues_jain: float = field(default=math.nan, metadata={**HIGHER, **SOMETIMES})
    starved: float = field(default=math.nan, metadata={**LOWER, **SOMETIMES})


@dataclass(frozen=True, slots=True)
class PooledMetrics(BatchMetrics):
    """Metrics of rigid jobs that also wait for GPUs and memory; NaN for resources that they do not wait for.

    Parameters
    ----------
    gpu_utilisation, memory_utilisation
        Used share of GPUs and of memory, as for ``utilisation``.
    lacked_processors, lacked_gpus, lacked_memory
        Share of the jobs' total wait in which only this resource was short, 0 to 1.

    Examples
    --------
    >>> PooledMetrics.of(BatchMetrics(1, 0.0, 0.0, 0.0, 60.0, 1.0, 0.5, 60.0), lacked_gpus=0.25).lacked_gpus
    0.25
    """

    gpu_utilisation: float = field(default=math.nan, metadata={**HIGHER, **SOMETIMES})
    memory_utilisation: float = field(default=math.nan, metadata={**HIGHER, **SOMETIMES})
    lacked_processors: float = field(default=math.nan, metadata=SOMETIMES)
    lacked_gpus: float = field(default=math.nan, metadata=SOMETIMES)
    lacked_memory: float = field(default=math.nan, metadata=SOMETIMES)

    @classmethod
    def of(cls, metrics: BatchMetrics, **pools: float) -> PooledMetrics:
        """Add the metrics of pools, given by field name, to the metrics of the jobs."""
        own: dict[str, Any] = {each.name: getattr(metrics, each.name) for each in fields(metrics)}
        return cls(**own | pools)


def bounded_slowdown(
    submit: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the bounded slowdown: response time over run time, with run times of at least 10 s, and at least 1.

    Parameters
    ----------
    submit, start, end
        (n,) times of each job, s.

    Returns
    -------
    (n,) slowdowns, at least 1.

    Examples
    --------
    >>> bounded_slowdown(np.array([0.0, 0.0]), np.array([90.0, 4.0]), np.array([120.0, 5.0])).tolist()
    [4.0, 1.0]

    Source: Feitelson, "Metrics for parallel job scheduling and their convergence", JSSPP 2001.
    """
    return np.maximum(1.0, (end - submit) / np.maximum(end - start, SLOWDOWN_THRESHOLD))


#: Numbers of users up to this many times the number of jobs are counted without sorting them.
_DENSE = 4


def batch_metrics(
    submit: NDArray[np.float64],
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    procs: NDArray[np.int64],
    processors: int,
    users: NDArray[np.int64] | None = None,
    *,
    groups: NDArray[np.int64] | None = None,
    queues: NDArray[np.int64] | None = None,
    starved_after: float | None = None,
) -> BatchMetrics:
    """Return the metrics of a finished replay.

    Parameters
    ----------
    submit, start, end
        (n,) times of each job, s; n is at least 1.
    procs
        (n,) processors held from start to end.
    processors
        Processors of the site.
    users
        (n,) number of the user of each job, negative for a job without one; None if users are unknown.
    groups, queues
        (n,) number of the group and of the queue of each job, in the same way.
    starved_after
        Wait after which a job counts as starved, s; None to leave starvation out.

    Examples
    --------
    >>> metrics = batch_metrics(np.array([0.0, 0.0]), np.array([0.0, 10.0]), np.array([10.0, 20.0]),
    ...     np.array([2, 1]), processors=2)
    >>> metrics.mean_wait_s, metrics.utilisation, metrics.makespan_s
    (5.0, 0.75, 20.0)
    """
    wait = start - submit
    p95, p99 = np.percentile(wait, (95, 99))
    makespan = float(end.max() - submit.min())
    slowdown = bounded_slowdown(submit, start, end)
    work = float(((end - start) * procs).sum())
    return BatchMetrics(
        jobs=len(submit),
        mean_wait_s=float(wait.mean()),
        median_wait_s=float(np.median(wait)),
        p95_wait_s=float(p95),
        mean_response_s=float((end - submit).mean()),
        mean_bounded_slowdown=float(slowdown.mean()),
        utilisation=work / (processors * makespan) if makespan > 0 else 0.0,
        makespan_s=makespan,
        p99_wait_s=float(p99),
        max_wait_s=float(wait.max()),
        users_jain=math.nan if users is None else jain_over(slowdown, users),
        groups_jain=math.nan if groups is None else jain_over(slowdown, groups),
        queues_jain=math.nan if queues is None else jain_over(slowdown, queues),
        starved=math.nan if starved_after is None else float((wait > starved_after).sum()),
    )


def jain_over(values: NDArray[np.float64], users: NDArray[np.int64]) -> float:
    """Return Jain's index of the users' mean values m: (Σ m)² / (u Σ m²) over u users.

    Parameters
    ----------
    values
        (n,) one value per job, at least 0.
    users
        (n,) number of the user of each job; jobs with a negative number are ignored.

    Returns
    -------
    float
        1/u to 1; NaN for fewer than two users, because the index of one user is always 1, and if all means are 0.

    Examples
    --------
    >>> jain_over(np.array([1.0, 3.0, 2.0, 9.0]), np.array([7, 7, 8, -1]))
    1.0
    >>> jain_over(np.array([6.0, 2.0]), np.array([1, 2]))
    0.8

    Source: Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination for resource allocation in
    shared computer systems", DEC-TR-301, 1984.
    """
    known = users >= 0
    owner, weight = (users, values) if known.all() else (users[known], values[known])
    if len(owner) and int(owner.max()) >= _DENSE * len(owner):
        owner = np.unique(owner, return_inverse=True)[1]
    counts = np.bincount(owner)
    present = counts > 0
    means = np.bincount(owner, weight)[present] / counts[present]
    square = float((means**2).sum())
    return float(means.sum() ** 2 / (len(means) * square)) if len(means) > 1 and square > 0 else math.nan
