"""A log split in two: a history of demand, and the jobs to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.vectors import VectorJobs

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Jobs from an instant on, and the demand in each period before it.

    Parameters
    ----------
    jobs
        Jobs submitted after the instant, and jobs that would still run then, submitted then with their remaining run
        time.
    history
        (t, k) the demand, a row for each period, up to the last one before ``begin``.
    begin
        Time of the first decision, s.
    """

    jobs: VectorJobs
    history: _Floats
    begin: float


def cut(
    jobs: VectorJobs, earlier: float, period: float, kind: _Ints, needed: Callable[[_Ints], _Floats]
) -> Cut:
    """Split a log.

    Parameters
    ----------
    jobs
        All jobs.
    earlier
        Length of the history, s; its jobs are assumed to run from their submission on.
    period
        Time between two rows of history, s.
    kind
        (n,) the kind of each job, from 0; jobs of a kind have equal requests.
    needed
        Returns the (k,) total demand, given the number of jobs of each kind.

    Raises
    ------
    InputError
        No jobs are left to run.

    Examples
    --------
    >>> jobs = VectorJobs.of(submit=[0, 50, 200], run=[60, 300, 10], cores=1)
    >>> found = cut(jobs, 100.0, 50.0, np.zeros(3, np.int64), lambda alive: alive.astype(float))
    >>> found.history.tolist(), found.jobs.submit.tolist(), found.jobs.run.tolist(), found.begin
    ([[1.0], [2.0]], [100.0, 200.0], [250.0, 10.0], 100.0)
    """
    rows = int(np.ceil(earlier / period))
    begin = float(jobs.submit[0]) + rows * period
    times = (begin - period * np.arange(rows, 0, -1)).astype(np.float64)
    history = _history(jobs, times, kind, needed)
    rest = (jobs.submit >= begin) | (jobs.submit + jobs.run > begin)
    if not rest.any():
        raise InputError(
            f"no jobs are left to run after the first {earlier:g} s (workload.earlier), which the policies only see: "
            f"the log ends {float((jobs.submit + jobs.run).max() - jobs.submit[0]):,.0f} s after its first submission"
        )
    left = jobs.take(rest)
    before = left.submit < begin
    done = np.where(before, begin - left.submit, 0.0)
    # A job that has outlived its limit has none that says when it ends.
    walltime = np.where(left.walltime > done, left.walltime - done, np.inf)
    moved = VectorJobs(
        left.job, left.submit + done, np.maximum(left.run - done, 0.0), left.resources, walltime
    )
    return Cut(moved, history, begin)


def _history(jobs: VectorJobs, times: _Floats, kind: _Ints, needed: Callable[[_Ints], _Floats]) -> _Floats:
    """Return the demand at each of these times if no job had to wait."""
    if not len(times):
        return np.empty((0, len(needed(np.zeros(int(kind.max()) + 1, np.int64)))))
    ends = np.argsort(jobs.submit + jobs.run, kind="stable")
    submitted = np.searchsorted(jobs.submit, times, side="right")
    ended = np.searchsorted((jobs.submit + jobs.run)[ends], times, side="right")
    alive, rows, first, last = np.zeros(int(kind.max()) + 1, np.int64), [], 0, 0
    for until, over in zip(submitted.tolist(), ended.tolist(), strict=True):
        alive += np.bincount(kind[first:until], minlength=len(alive))
        alive -= np.bincount(kind[ends[last:over]], minlength=len(alive))
        first, last = until, over
        rows.append(needed(alive))
    return np.array(rows)
