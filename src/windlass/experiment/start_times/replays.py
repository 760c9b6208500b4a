"""Starts of the waiting jobs, from replays of the site's state with drawn run times and arrivals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.drive import drive
from windlass.experiment.start_times.history import SiteHistory, SiteSnapshot
from windlass.experiment.start_times.run_times import RunTimes
from windlass.model import JobTable
from windlass.model.timetable import NodeTimetable
from windlass.order.site import SitePolicy
from windlass.order.site.ownership import placed
from windlass.order.site.policies.conservative import Conservative
from windlass.order.site.view import Running, SiteView, Waiting
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.site.part import SitePart
from windlass.sim.site.replay import replay

_DAY_S = 86_400.0
#: The arrivals of a replay are those of an earlier day, up to four weeks ago.
_DAYS = 28
_MOST_ARRIVALS = 2000
#: Starts that all replays together simulate, at most, unless there are fewer replays than the second number.
_MOST_STARTS, _FEWEST_DRAWS = 80_000, 8
_SHORTEST_HORIZON_S = 3600.0
_LONGEST_HORIZON_S = 7 * _DAY_S


@dataclass(frozen=True, slots=True, eq=False)
class DrawnFuture:
    """Run times and arrivals after an instant, drawn once.

    Parameters
    ----------
    running, waiting
        (r,) and (w,) run times of the jobs that run and wait, s; those of running jobs from their start.
    arrivals
        (k,) rows of jobs like those that arrive.
    at, later
        (k,) when they arrive, and their run times, s.
    """

    running: NDArray[np.float64]
    waiting: NDArray[np.float64]
    arrivals: NDArray[np.int64]
    at: NDArray[np.float64]
    later: NDArray[np.float64]


def replayed_starts(
    history: SiteHistory,
    state: SiteSnapshot,
    policy: Callable[[np.random.Generator], SitePolicy],
    draws: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return (w, draws) starts of the jobs that wait, s: one column per replay.

    A replay begins with the running and the waiting jobs. Their run times are drawn from :class:`RunTimes`. Later
    arrivals are those that followed the same time of another day, drawn from the last four weeks.

    Parameters
    ----------
    history
        The site's jobs; those after ``state.now`` are not used.
    state
        The site at the instant of the question.
    policy
        Makes the policy that orders the queue, for each replay.
    draws
        Number of replays; a long queue has fewer, at least 8.
    rng
        The generator.

    Examples
    --------
    >>> from windlass.io.traces import Workload
    >>> from windlass.order.site.policies.easy import Easy
    >>> jobs = JobTable.of(submit=[0, 5], run=[10, 10], procs=[4, 4])
    >>> history = SiteHistory(Workload(jobs, 4), np.array([0.0, np.inf]), np.array([np.inf, np.inf]))
    >>> rng = np.random.default_rng(1)
    >>> replayed_starts(history, history.at(6.0), lambda own: Easy(), 2, rng).tolist()
    [[10.0, 10.0]]
    """
    if not len(state.waiting):
        return np.empty((0, draws))
    draws = draws_for(state, draws)
    starts = np.empty((len(state.waiting), draws))
    for draw, future in enumerate(drawn_futures(history, state, draws, rng)):
        starts[:, draw] = starts_in(history, state, future, policy(rng))
    return starts


def draws_for(state: SiteSnapshot, draws: int) -> int:
    """Return the number of replays: a long queue has fewer, at least 8.

    >>> draws_for(SiteSnapshot(0.0, np.empty(0, np.int64), np.arange(8_000)), 20)
    10
    """
    return min(draws, max(_FEWEST_DRAWS, _MOST_STARTS // max(1, len(state.waiting))))


def drawn_futures(
    history: SiteHistory,
    state: SiteSnapshot,
    draws: int,
    rng: np.random.Generator,
    *,
    arrivals: bool = True,
) -> Iterator[DrawnFuture]:
    """Yield what may follow an instant: see :func:`replayed_starts`.

    Parameters
    ----------
    history, state, draws, rng
        As of :func:`replayed_starts`.
    arrivals
        Whether jobs arrive later.
    """
    jobs, now = history.workload.jobs, state.now
    run_times = RunTimes(history, now)
    running = run_times.draw(state.running, now - history.start[state.running], draws, rng)
    waiting = run_times.draw(state.waiting, np.zeros(len(state.waiting)), draws, rng)
    horizon = _horizon(history, state, running, waiting)
    first_day = jobs.submit[0] if len(jobs) else now
    days = int(min(_DAYS, max(0, (now - first_day) // _DAY_S))) if arrivals else 0
    for draw in range(draws):
        day = int(rng.integers(1, days + 1)) if days else 0
        rows, at = _arrivals(history, now, horizon, day)
        later = run_times.draw(rows, np.zeros(len(rows)), 1, rng)[:, 0]
        yield DrawnFuture(running[:, draw], waiting[:, draw], rows, at, later)


def planned_starts(history: SiteHistory, state: SiteSnapshot) -> NDArray[np.float64]:
    """Return (w,) starts of the jobs that wait by the rule of Slurm's backfill scheduler, s.

    ``squeue --start`` shows these: each job runs for its whole request, later jobs start only where they delay no
    earlier one, and no further job arrives.

    Examples
    --------
    >>> from windlass.io.traces import Workload
    >>> jobs = JobTable.of(submit=[0, 5], run=[10, 10], procs=[4, 4], request=[60, 60])
    >>> history = SiteHistory(Workload(jobs, 4), np.array([0.0, np.inf]), np.array([np.inf, np.inf]))
    >>> planned_starts(history, history.at(6.0)).tolist()
    [60.0]
    """
    jobs, running, waiting = history.workload.jobs, state.running, state.waiting
    expected_end = history.start[running] + jobs.request[running]
    by_end = np.argsort(expected_end, kind="stable")
    used = int(jobs.procs[running].sum())
    processors = max(history.workload.processors, used)
    view = SiteView(
        state.now,
        processors=processors,
        free=processors - used,
        waiting=Waiting.of(
            jobs.job[waiting], jobs.submit[waiting], jobs.procs[waiting], jobs.request[waiting]
        ),
        running=Running.of(jobs.job[running][by_end], jobs.procs[running][by_end], expected_end[by_end]),
    )
    notes = Conservative().decide(view).notes
    return np.full(len(waiting), state.now) if notes is None else notes.copy()


def _horizon(
    history: SiteHistory, state: SiteSnapshot, running: NDArray[np.float64], waiting: NDArray[np.float64]
) -> float:
    """Return how long arrivals are drawn, s: about twice as long as the site needs for the jobs that it has."""
    jobs = history.workload.jobs
    left = running.mean(axis=1) - (state.now - history.start[state.running])
    work = float(left @ jobs.procs[state.running] + waiting.mean(axis=1) @ jobs.procs[state.waiting])
    needed = 2 * work / history.workload.processors
    return float(np.clip(needed, _SHORTEST_HORIZON_S, _LONGEST_HORIZON_S))


def _arrivals(
    history: SiteHistory, now: float, horizon: float, day: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the jobs submitted within the horizon of the same time ``day`` days ago, and when they arrive now."""
    if day == 0:
        return np.empty(0, np.int64), np.empty(0)
    submit, back = history.workload.jobs.submit, day * _DAY_S
    first = int(np.searchsorted(submit, now - back, side="right"))
    last = int(np.searchsorted(submit, min(now - back + horizon, now), side="right"))
    rows = np.arange(first, min(last, first + _MOST_ARRIVALS))
    return rows, submit[rows] + back


def starts_in(
    history: SiteHistory,
    state: SiteSnapshot,
    future: DrawnFuture,
    policy: SitePolicy,
    processors: int | None = None,
) -> NDArray[np.float64]:
    """Return (w,) starts of the waiting jobs in one replay, s.

    The replay begins before all of these jobs. One job more holds the processors that are idle now until now, so that
    no other job starts before; then the policy sees the true ages of the jobs that run and wait.

    Parameters
    ----------
    history, state
        The site at the instant.
    future
        What follows.
    policy
        The policy that orders the queue.
    processors
        Processors from now on; None for those of the site. If there are fewer, running jobs keep theirs until they end.
        A job that is wider never starts: its start is infinite.
    """
    workload, jobs, now = history.workload, history.workload.jobs, state.now
    submits, starts = jobs.submit[state.waiting], history.start[state.running]
    origin = min(submits.min(initial=now), starts.min(initial=now)) - 1.0
    used = int(jobs.procs[state.running].sum())
    present = max(workload.processors, used)
    left = present if processors is None else processors
    fits, later_fits = jobs.procs[state.waiting] <= left, jobs.procs[future.arrivals] <= left
    waiting, arrivals = state.waiting[fits], future.arrivals[later_fits]
    if not len(waiting):
        # No waiting job ever fits.
        return np.full(len(state.waiting), np.inf)
    rows = np.concatenate([state.running, waiting, arrivals])
    whole = max(present, left)
    idle = whole - used
    shift = np.concatenate([starts - origin, np.zeros(len(waiting) + len(arrivals))])
    run = np.concatenate([future.running, future.waiting[fits], future.later[later_fits]])
    # The job that holds the idle processors is the first one.
    lead = 1 if idle else 0
    until = np.full(lead, now - origin)
    table = JobTable.of(
        submit=np.concatenate([np.full(lead + len(starts), origin), submits[fits], future.at[later_fits]]),
        run=np.concatenate([until, shift + run]),
        procs=np.concatenate([np.full(lead, idle), jobs.procs[rows]]),
        # A job that has exceeded its request still runs, so that the request is not where it ends.
        request=np.concatenate([until, shift + np.maximum(jobs.request[rows], run)]),
    )
    of = workload.of.take(np.concatenate([rows[:lead], rows]))
    ready, owners = placed(policy, of.owners(len(table)), of.queues)
    first = lead + len(state.running)
    found = np.full(len(state.waiting), np.inf)
    if left == whole:
        done = replay(table, whole, ready, owners=owners)
    else:
        ledger = Ledger([[whole]], parts=1)
        gone = NodeTimetable.outage(0, now, None, cores=whole, left=left)
        parts = Outages(gone, ledger), SitePart(table, ready, ledger, owners=owners)
        _, done = drive(Coupled(parts, ledger), {"order": ready})
    found[fits] = done.start[first : first + len(waiting)]
    return found
