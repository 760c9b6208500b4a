"""Recorded waits that a replay cannot follow, because the log lacks their cause."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.site_fit.evidence import held_processors
from windlass.experiment.site_fit.idle_waiting import IdleWaiting, idle_waiting
from windlass.experiment.site_fit.site_rules import SiteRules
from windlass.io.traces import Workload


@dataclass(frozen=True, slots=True)
class LogGaps:
    """What recorded waits of some jobs show.

    Parameters
    ----------
    idle
        Waiting time in which enough of the log's processors for the waiting job were idle, usable or not.
    idle_replayed
        The same in the replay, where the order of the queue and the fitted site alone hold jobs.
    user
        The user whose jobs have the largest part of the error of the mean; empty without users.
    user_share
        That part: the error of the mean from this user's jobs, divided by the whole error; NaN without an error.
    user_jobs
        The share of jobs that are this user's.
    over_share
        Share of the time in which jobs held more processors than the log states.
    """

    idle: IdleWaiting
    idle_replayed: IdleWaiting
    user: str
    user_share: float
    user_jobs: float
    over_share: float


def gaps_of(
    workload: Workload, replayed: NDArray[np.float64], rows: NDArray[np.int64], model: SiteRules
) -> LogGaps:
    """Return what the recorded waits of some jobs show.

    Parameters
    ----------
    workload
        All jobs of the log, with recorded waits.
    replayed
        (n,) the waits of a replay, s.
    rows
        The jobs in question.
    model
        The site of the replay.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 0], run=[10, 10], procs=[2, 2])
    >>> log = Workload(jobs, 4, wait=np.array([0.0, 20.0]))
    >>> gaps_of(log, np.zeros(2), np.arange(2), SiteRules(4)).idle.total
    1.0
    """
    assert workload.wait is not None
    rows = rows[np.isfinite(workload.wait[rows])]
    held = held_processors(workload)
    user, share, jobs = _user(workload, replayed, rows)
    length = np.diff(held.time)
    over = float(length @ (held.level[:-1] > workload.processors) / length.sum()) if length.sum() > 0 else 0.0
    idle = idle_waiting(workload, model, rows)
    idle_replayed = idle_waiting(dataclasses.replace(workload, wait=replayed), model, rows)
    return LogGaps(idle, idle_replayed, user, share, jobs, over)


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
