"""Waiting time while enough processors were idle, by what may have held the jobs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.site_fit.evidence import CountSteps, held_processors
from windlass.experiment.site_fit.site_rules import SiteRules
from windlass.io.traces import Workload

_HOUR_S, _WEEK_S = 3600.0, 7 * 86_400.0
#: Jobs and instants of each wait that are examined.
_JOBS, _INSTANTS = 20_000, 16
#: A site without a start for this long while a job fits is down, or is used otherwise, s.
_STANDSTILL_S = 3600.0


@dataclass(frozen=True, slots=True)
class IdleWaiting:
    """Shares of all waiting time in which enough of the log's processors for the waiting job were idle.

    Each instant counts once, for the first cause that applies. All are NaN if nothing waited.

    Parameters
    ----------
    closed
        The job was long and could not end before hours closed to long jobs, by the fitted site.
    limited
        The job's user was at a limit of the fitted site.
    standstill
        No job started for an hour or more: broken or reserved nodes, or time for one project.
    unexplained
        None of these: memory, types of nodes, dependencies, reservations, users' holds, or another order.
    """

    closed: float
    limited: float
    standstill: float
    unexplained: float

    @property
    def total(self) -> float:
        """The sum of all."""
        return self.closed + self.limited + self.standstill + self.unexplained


def idle_waiting(workload: Workload, model: SiteRules, rows: NDArray[np.int64]) -> IdleWaiting:
    """Return why jobs waited while enough processors were idle, as far as the schedule shows it.

    Parameters
    ----------
    workload
        All jobs of the log, with recorded waits.
    model
        The fitted site.
    rows
        The jobs in question; those without a recorded wait are left out.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 0], run=[10, 10], procs=[2, 2])
    >>> idle_waiting(Workload(jobs, 4, wait=np.array([0.0, 7200.0])), SiteRules(4), np.arange(2)).standstill
    1.0
    """
    assert workload.wait is not None
    rows = rows[np.isfinite(workload.wait[rows])]
    rows = rows[:: max(1, len(rows) // _JOBS)]
    jobs, wait = workload.jobs, workload.wait[rows]
    if not wait.sum() > 0:
        return IdleWaiting(*(float("nan"),) * 4)
    part = (np.arange(_INSTANTS) + 0.5) / _INSTANTS
    at = jobs.submit[rows][:, None] + wait[:, None] * part
    idle = workload.processors - held_processors(workload).before(at.ravel()).reshape(at.shape)
    left, shares = idle >= jobs.procs[rows][:, None], list[float]()
    for cause in (_closed(jobs.request[rows], model, at), _limited(workload, model, rows, at)):
        shares.append(_share(wait, left & cause))
        left &= ~cause
    still = _standstill(workload, at)
    closed, limited = shares
    return IdleWaiting(closed, limited, _share(wait, left & still), _share(wait, left & ~still))


def _share(wait: NDArray[np.float64], found: NDArray[np.bool_]) -> float:
    return float(wait @ found.mean(axis=1) / wait.sum())


def _closed(request: NDArray[np.float64], model: SiteRules, at: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether jobs, if they started at these times, could not end before hours that are closed to them."""
    if "closed" not in model.limits:
        return np.zeros(at.shape, np.bool_)
    edges = np.array(
        [[float(edge) for edge in each.split("-")] for each in str(model.limits["closed"]).split()]
    )
    begins, ends = (edges[:, side] * _HOUR_S for side in (0, 1))
    week = at % _WEEK_S
    inside = ((week[..., None] >= begins) & (week[..., None] < ends)).any(axis=-1)
    # The next closed hours begin this week, or are the first ones of the next week.
    ahead = np.append(begins, begins[0] + _WEEK_S)[np.searchsorted(begins, week, side="left")] - week
    long = (request > model.limits["long"])[:, None]
    found: NDArray[np.bool_] = long & (inside | (ahead < request[:, None]))
    return found


def _limited(
    workload: Workload, model: SiteRules, rows: NDArray[np.int64], at: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return whether the users of jobs were at a limit at these times."""
    found, users = np.zeros(at.shape, np.bool_), workload.users
    most_jobs, most_procs = (model.limits.get(name, np.inf) for name in ("jobs_per_user", "procs_per_user"))
    if users is None or (most_jobs == np.inf and most_procs == np.inf):
        return found
    assert workload.wait is not None
    jobs, own = workload.jobs, users[rows]
    start = jobs.submit + workload.wait
    for user in np.unique(own[own >= 0]).tolist():
        theirs, mine = np.flatnonzero((users == user) & np.isfinite(start)), own == user
        time = np.concatenate([start[theirs] + jobs.run[theirs], start[theirs]])
        ones, procs, when = np.ones(len(theirs), np.int64), jobs.procs[theirs], at[mine]
        count = CountSteps(time, np.concatenate([-ones, ones])).before(when)
        held = CountSteps(time, np.concatenate([-procs, procs])).before(when)
        found[mine] = (count >= most_jobs) | (held + jobs.procs[rows][mine][:, None] > most_procs)
    return found


def _standstill(workload: Workload, at: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether the times are in a stretch without a start of any job."""
    assert workload.wait is not None
    start = workload.jobs.submit + workload.wait
    edges = np.concatenate([[-np.inf], np.sort(start[np.isfinite(start)]), [np.inf]])
    place = np.searchsorted(edges, at, side="right")
    found: NDArray[np.bool_] = edges[np.minimum(place, len(edges) - 1)] - edges[place - 1] >= _STANDSTILL_S
    return found
