"""Recorded waits that a replay cannot follow, because the log lacks their cause."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.site_fit.evidence import CountSteps, held_processors
from windlass.io.traces import Workload

#: Jobs and instants of each wait that are examined.
_JOBS, _INSTANTS = 20_000, 16


@dataclass(frozen=True, slots=True)
class LogGaps:
    """What recorded waits of some jobs show.

    Parameters
    ----------
    idle_share
        Share of all waiting time in which enough of the log's processors for the waiting job were idle, usable or not;
        NaN if nothing waited.
    user
        The user whose jobs have the largest part of the error of the mean; empty without users.
    user_share
        That part: the error of the mean from this user's jobs, divided by the whole error; NaN without an error.
    user_jobs
        The share of jobs that are this user's.
    over_share
        Share of the time in which jobs held more processors than the log states.
    """

    idle_share: float
    user: str
    user_share: float
    user_jobs: float
    over_share: float


def gaps_of(workload: Workload, replayed: NDArray[np.float64], rows: NDArray[np.int64]) -> LogGaps:
    """Return what the recorded waits of some jobs show.

    Parameters
    ----------
    workload
        All jobs of the log, with recorded waits.
    replayed
        (n,) the waits of a replay, s.
    rows
        The jobs in question.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 0], run=[10, 10], procs=[2, 2])
    >>> gaps_of(Workload(jobs, 4, wait=np.array([0.0, 20.0])), np.zeros(2), np.arange(2)).idle_share
    1.0
    """
    assert workload.wait is not None
    rows = rows[np.isfinite(workload.wait[rows])]
    held = held_processors(workload)
    user, share, jobs = _user(workload, replayed, rows)
    length = np.diff(held.time)
    over = float(length @ (held.level[:-1] > workload.processors) / length.sum()) if length.sum() > 0 else 0.0
    return LogGaps(_idle_share(workload, held, rows), user, share, jobs, over)


def _idle_share(workload: Workload, held: CountSteps, rows: NDArray[np.int64]) -> float:
    assert workload.wait is not None
    rows = rows[:: max(1, len(rows) // _JOBS)]
    jobs, wait = workload.jobs, workload.wait[rows]
    part = (np.arange(_INSTANTS) + 0.5) / _INSTANTS
    at = jobs.submit[rows][:, None] + wait[:, None] * part
    idle = workload.processors - held.before(at.ravel()).reshape(at.shape)
    enough = (idle >= jobs.procs[rows][:, None]).mean(axis=1)
    return float(wait @ enough / wait.sum()) if wait.sum() > 0 else np.nan


def _user(
    workload: Workload, replayed: NDArray[np.float64], rows: NDArray[np.int64]
) -> tuple[str, float, float]:
    assert workload.wait is not None
    members = workload.of.user
    error = replayed[rows] - workload.wait[rows]
    if members is None or not len(rows) or abs(error.sum()) == 0:
        return "", np.nan, np.nan
    number = members.number[rows]
    known = number >= 0
    total = np.bincount(number[known], weights=error[known], minlength=len(members.names))
    count = np.bincount(number[known], minlength=len(members.names))
    most = int(np.argmax(total * np.sign(error.sum())))
    return members.names[most], float(total[most] / error.sum()), float(count[most] / len(rows))
