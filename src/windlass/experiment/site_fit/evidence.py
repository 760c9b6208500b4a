"""What the recorded schedule of a log shows about its site, without a replay."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces import Workload

_WEEK_S = 7 * 86_400.0
#: The week is divided into this many parts of a quarter of an hour.
_PARTS, _PART_S, _PER_HOUR = 672, 900.0, 4
#: A part is closed to long jobs if these hold fewer than this share of their mean processors then.
_CLOSED = 0.1
#: Closed hours may begin this many parts later than the use shows, so that a job which just fits is not excluded.
_LATER = (0, 1, 2)
#: Closed parts in a row, at least: three hours.
_FEWEST_PARTS = 12
#: Jobs that a class of long jobs has at least, and the weeks that a log covers at least, to show closed hours.
_FEWEST_LONG, _FEWEST_WEEKS = 100, 4
#: A limit per user is possible if these shares of the starts keep it.
_KEPT = (0.998, 0.999, 0.9995, 1.0)
#: A latency is the median wait of jobs that find enough idle processors for all that wait, up to this, s.
_LONGEST_LATENCY_S = 900.0


@dataclass(frozen=True, slots=True)
class ClosedHours:
    """Hours of the week in which no long job runs.

    Parameters
    ----------
    long
        Requested time above which a job is long, s.
    closed
        The hours, as in the policy ``limited``.
    """

    long: float
    closed: str


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What a recorded schedule shows.

    Parameters
    ----------
    used
        The most processors that jobs held at once.
    needed
        Processors that jobs held on average between the first and the last submission: a site needs at least as many.
    busy
        Mean of the processors that jobs held while the waiting jobs requested at least all of the site's in total; NaN
        if that never happened.
    latency
        Median wait of jobs that found enough idle processors for themselves and all waiting jobs, s.
    hours
        Hours closed to long jobs, for each length that shows some.
    jobs_per_user, procs_per_user
        Limits per user that the schedule permits.
    """

    used: int
    needed: float
    busy: float
    latency: float
    hours: tuple[ClosedHours, ...]
    jobs_per_user: tuple[int, ...]
    procs_per_user: tuple[int, ...]


def evidence_of(workload: Workload) -> Evidence:
    """Return what the recorded schedule of a log shows.

    Parameters
    ----------
    workload
        The jobs; those without a recorded wait are left out.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 0], run=[10, 10], procs=[3, 2])
    >>> evidence_of(Workload(jobs, 8, wait=np.array([0.0, 10.0]))).used
    3
    """
    wait = np.full(len(workload.jobs), np.nan) if workload.wait is None else workload.wait
    known = np.flatnonzero(np.isfinite(wait))
    workload, wait = workload.take(known), wait[known]
    jobs = workload.jobs
    start = jobs.submit + wait
    held = held_processors(workload)
    queued = CountSteps(np.concatenate([start, jobs.submit]), np.concatenate([-jobs.procs, jobs.procs]))
    jobs_of, procs_of = _limits_per_user(workload, start)
    return Evidence(
        int(held.level.max(initial=0)),
        _needed(workload),
        _busy(held, queued, workload.processors),
        _latency(workload, wait, held, queued),
        tuple(_closed_hours(workload, start)),
        jobs_of,
        procs_of,
    )


class CountSteps:
    """A whole number that changes at instants; at one instant, decreases come first.

    Parameters
    ----------
    time
        (m,) instants, s.
    change
        (m,) by how much it changes.

    Examples
    --------
    >>> CountSteps(np.array([5.0, 0.0]), np.array([-2, 2])).before(np.array([0.0, 3.0, 9.0])).tolist()
    [0, 2, 0]
    """

    def __init__(self, time: NDArray[np.float64], change: NDArray[np.int64]) -> None:
        order = np.lexsort((change, time))
        self.time, self.level = time[order], np.cumsum(change[order])

    def before(self, at: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the number just before instants."""
        found: NDArray[np.int64] = np.append(0, self.level)[np.searchsorted(self.time, at, side="left")]
        return found

    def after(self, at: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the number just after instants."""
        found: NDArray[np.int64] = np.append(0, self.level)[np.searchsorted(self.time, at, side="right")]
        return found


def held_processors(workload: Workload) -> CountSteps:
    """Return the processors that jobs with a recorded wait held over time."""
    assert workload.wait is not None
    known = np.isfinite(workload.wait)
    jobs = workload.jobs
    start, procs = (jobs.submit + workload.wait)[known], jobs.procs[known]
    return CountSteps(np.concatenate([start + jobs.run[known], start]), np.concatenate([-procs, procs]))


def _busy(held: CountSteps, queued: CountSteps, processors: int) -> float:
    """Return the mean of held processors while the waiting jobs request at least all of the site's in total."""
    times = np.unique(np.concatenate([held.time, queued.time]))
    if len(times) < 2:
        return math.nan
    after, length = times[1:], np.diff(times)
    crowded = queued.before(after) >= processors
    weight = length[crowded]
    return float(held.before(after)[crowded] @ weight / weight.sum()) if weight.sum() > 0 else math.nan


def _needed(workload: Workload) -> float:
    jobs = workload.jobs
    span = float(jobs.submit[-1] - jobs.submit[0]) if len(jobs) else 0.0
    return float(jobs.run @ jobs.procs) / span if span > 0 else 0.0


def _latency(workload: Workload, wait: NDArray[np.float64], held: CountSteps, queued: CountSteps) -> float:
    submit, instant = np.unique(workload.jobs.submit, return_inverse=True)
    arrive = np.bincount(instant, weights=workload.jobs.procs)
    free = workload.processors - held.before(submit)
    at_once = (free - queued.before(submit) >= arrive)[instant]
    found = wait[at_once & (wait <= _LONGEST_LATENCY_S)]
    if len(found):
        return float(np.median(found))
    # Without such a job, no job starts faster than the fastest.
    return float(wait.min()) if len(wait) else 0.0


def _closed_hours(workload: Workload, start: NDArray[np.float64]) -> list[ClosedHours]:
    """Return the hours of the week in which jobs above a length do not run, for each length that shows some."""
    jobs = workload.jobs
    if len(jobs) < 2 or jobs.submit[-1] - jobs.submit[0] < _FEWEST_WEEKS * _WEEK_S:
        return []
    found = []
    for long in np.unique(np.quantile(jobs.request, np.arange(0.2, 0.96, 0.05))).tolist():
        rows = jobs.request > long
        if rows.sum() < _FEWEST_LONG:
            continue
        use = _use_by_part(start[rows], jobs.request[rows], jobs.procs[rows])
        closed = _lasting(use < _CLOSED * use.mean())
        if closed.any() and not closed.all():
            found += [ClosedHours(long, _text(_beginning_later(closed, parts))) for parts in _LATER]
    return found


def _beginning_later(closed: NDArray[np.bool_], parts: int) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.logical_and.reduce([np.roll(closed, shift) for shift in range(parts + 1)])
    return found


def use_in_closed_hours(workload: Workload, long: float, closed: str) -> float:
    """Return the processors that long jobs hold in closed hours by their requests, as a share of their mean.

    Parameters
    ----------
    workload
        The jobs; those without a recorded wait are left out.
    long, closed
        As in the policy ``limited``.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 0], run=[3600, 3600], procs=[2, 2])
    >>> round(use_in_closed_hours(Workload(jobs, 4, wait=np.array([0.0, 3600.0])), 60.0, "1-168"), 3)
    0.503
    """
    if workload.wait is None:
        return math.nan
    jobs = workload.jobs
    rows = np.isfinite(workload.wait) & (jobs.request > long)
    use = _use_by_part((jobs.submit + workload.wait)[rows], jobs.request[rows], jobs.procs[rows])
    edges = [float(edge) * _PER_HOUR for part in closed.split() for edge in part.split("-")]
    part = np.arange(_PARTS)
    inside = [(part >= begin) & (part < end) for begin, end in zip(edges[::2], edges[1::2], strict=True)]
    mean = use.mean()
    return float(use[np.logical_or.reduce(inside)].mean() / mean) if mean > 0 else math.nan


def _use_by_part(
    start: NDArray[np.float64], request: NDArray[np.float64], procs: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return (672,) processors that jobs hold in each quarter of an hour of the week if they run for their requests.

    Jobs of more than a week hold all quarters. A quarter of an hour in which a job only ends is not counted.
    """
    first = np.floor(start / _PART_S).astype(np.int64)
    length = np.minimum(np.floor((start + request) / _PART_S).astype(np.int64) - first, _PARTS)
    change = np.zeros(2 * _PARTS + 1)
    np.add.at(change, first % _PARTS, procs)
    np.add.at(change, first % _PARTS + length, -procs)
    use = np.cumsum(change)[: 2 * _PARTS]
    found: NDArray[np.float64] = use[:_PARTS] + use[_PARTS:]
    return found


def _lasting(closed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the parts of the week that belong to enough closed parts in a row, over the end of the week, too."""
    around = np.concatenate([closed, closed[: _FEWEST_PARTS - 1]]).astype(np.int64)
    begins = np.convolve(around, np.ones(_FEWEST_PARTS, np.int64), "valid") == _FEWEST_PARTS
    found: NDArray[np.bool_] = np.logical_or.reduce(
        [np.roll(begins, shift) for shift in range(_FEWEST_PARTS)]
    )
    return found


def _text(closed: NDArray[np.bool_]) -> str:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], closed.astype(np.int64), [0]]))) / _PER_HOUR
    return " ".join(f"{begin:g}-{end:g}" for begin, end in edges.reshape(-1, 2).tolist())


def _limits_per_user(
    workload: Workload, start: NDArray[np.float64]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return candidates of limits per user, on jobs and on processors: almost all starts keep them."""
    users, jobs = workload.users, workload.jobs
    if users is None:
        return (), ()
    counts, procs = [], []
    order = np.argsort(users, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(users[order])) + 1):
        if users[rows[0]] < 0:
            continue
        first, width = start[rows], jobs.procs[rows]
        time, ones = np.concatenate([first + jobs.run[rows], first]), np.ones(len(rows), np.int64)
        # What the user holds just after each start; a single job may be wider than a limit.
        held = CountSteps(time, np.concatenate([-ones, ones])).after(first)
        counts.append(held)
        wide = CountSteps(time, np.concatenate([-width, width])).after(first)
        procs.append(np.where(held > 1, wide, 0))
    if not counts:
        return (), ()
    shares = np.array(_KEPT)
    found = (np.unique(np.ceil(np.quantile(np.concatenate(each), shares))) for each in (counts, procs))
    jobs_of, procs_of = (tuple(each[each >= 1].astype(int).tolist()) for each in found)
    return jobs_of, procs_of
