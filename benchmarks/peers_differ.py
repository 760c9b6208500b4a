"""The first job that two schedules of the same jobs start at different times, and the reason.

Up to that instant the schedules are equal, so the state of the site follows from them without either simulator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import JobTable

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_OURS = "Windlass"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first job that two schedules start at different times.

    Parameters
    ----------
    job
        Number of the job.
    ours, theirs
        Its start in Windlass's and the peer's schedule, s; NaN if it never starts.
    why
        The rule in which they differ, as far as the state of the site shows it.
    """

    job: int
    ours: float
    theirs: float
    why: str

    def line(self, peer: str) -> str:
        """Return the difference as one line of text.

        >>> Difference(7, 90.0, math.nan, "it is next, and fits").line("a peer")
        'job 7 starts at 90 s by Windlass and never by a peer: it is next, and fits'
        """
        return (
            f"job {self.job} starts {_at(self.ours)} by {_OURS} and {_at(self.theirs)} by {peer}: {self.why}"
        )


@dataclass(frozen=True, slots=True)
class _Side:
    """The name of a simulator, and its (n,) starts, s; infinity for jobs that never start."""

    name: str
    start: _Floats


@dataclass(frozen=True, slots=True)
class _State:
    """The site at the instant of the first difference, before any job starts then.

    ``begun``, ``running`` and ``queue`` are rows; the queue is in order of submission.
    """

    jobs: JobTable
    now: float
    free: int
    begun: _Rows
    running: _Rows
    queue: _Rows


def first_difference(
    jobs: JobTable, processors: int, ours: _Floats, theirs: _Floats, peer: str = "the peer"
) -> Difference | None:
    """Return the first job that two schedules start at different times, or None if they are equal.

    The first job is the one with the earliest start in either schedule; ties go to the earliest submission.

    Parameters
    ----------
    jobs
        Jobs in order of submission, stopped at their requests.
    processors
        Processors of the site.
    ours, theirs
        (n,) starts, s; NaN for jobs that never start.
    peer
        Name of the peer.

    Examples
    --------
    >>> jobs = JobTable.of(submit=[0, 1, 2], run=[10, 10, 3], procs=[3, 4, 1])
    >>> found = first_difference(jobs, 4, np.array([0.0, 10.0, 2.0]), np.array([0.0, 10.0, 20.0]))
    >>> found.job, found.why
    (3, 'it would end at 5 s, before job 2 at the head can start, at 10 s; the peer leaves it waiting')
    """
    mine, other = (np.where(np.isnan(each), np.inf, each) for each in (ours, theirs))
    differ = np.flatnonzero(mine != other)
    if not len(differ):
        return None
    first = np.minimum(mine, other)[differ]
    row = int(differ[np.argmin(first)])
    early, late = _Side(_OURS, mine), _Side(peer, other)
    if mine[row] > other[row]:
        early, late = late, early
    state = _state(jobs, processors, float(first.min()), early.start)
    return Difference(int(jobs.job[row]), float(ours[row]), float(theirs[row]), _why(state, row, early, late))


def _state(jobs: JobTable, processors: int, now: float, start: _Floats) -> _State:
    begun = start < now
    running = np.flatnonzero(begun & (start + np.minimum(jobs.run, jobs.request) > now))
    return _State(
        jobs,
        now,
        processors - int(jobs.procs[running].sum()),
        np.flatnonzero(begun),
        running,
        np.flatnonzero(~begun & (jobs.submit <= now)),
    )


def _why(state: _State, row: int, early: _Side, late: _Side) -> str:
    jobs, now, queue = state.jobs, state.now, state.queue
    if jobs.submit[row] > now:
        return f"{early.name} starts it before it is submitted, at {_s(jobs.submit[row])}"
    started = queue[early.start[queue] == now]
    # A job of length 0 frees its processors at once, for other jobs of the same instant.
    taken = int(jobs.procs[started[np.minimum(jobs.run, jobs.request)[started] > 0]].sum())
    if taken > state.free:
        return f"{early.name} starts jobs on {taken} processors, of which {state.free} are idle"
    passed = queue[(queue < row) & (early.start[queue] > now)]
    if len(passed):
        return _past_the_head(state, row, int(passed[0]), early, late)
    return _in_turn(state, row, early, late)


def _in_turn(state: _State, row: int, early: _Side, late: _Side) -> str:
    """Return the reason if no job before this one is left waiting."""
    jobs, now, queue = state.jobs, state.now, state.queue
    instead = queue[late.start[queue] == now]
    behind = instead[instead > row]
    idle = state.free - int(jobs.procs[instead].sum())
    fits = f"it is next, and fits ({jobs.procs[row]} of {state.free} idle processors); {late.name}"
    at = float(late.start[row])
    # Some simulators keep a reservation even if jobs end early.
    requested = early.start[state.begun] + jobs.request[state.begun]
    until = state.begun[requested == at]
    if len(until):
        return f"{fits} waits until {_s(at)}, the latest end of job {jobs.job[until[0]]}"
    if len(behind) and jobs.procs[row] > idle:
        first = int(behind[0])
        when = "at the same instant" if jobs.submit[first] == jobs.submit[row] else "later"
        return f"{late.name} starts job {jobs.job[first]} instead, which was submitted {when}"
    if at == math.inf:
        return f"{fits} never starts it"
    if at == math.ceil(now):
        return f"{fits} starts it at the next whole second"
    brief = queue[(early.start[queue] == now) & (np.minimum(jobs.run, jobs.request)[queue] == 0)]
    if len(brief):
        # It frees its processors at the same instant, and not all simulators decide again then.
        return f"{fits} leaves it waiting though {_jobs(jobs, brief)}, of length 0, ends at that instant"
    return f"{fits} leaves it waiting"


def _past_the_head(state: _State, row: int, head: int, early: _Side, late: _Side) -> str:
    """Return the reason, by the rules of backfilling, if the job starts while an earlier one waits."""
    jobs, now, queue = state.jobs, state.now, state.queue
    procs, request, name = jobs.procs, jobs.request, f"job {jobs.job[head]} at the head"
    started = queue[early.start[queue] == now]
    ahead = started[started < head]
    idle = state.free - int(procs[ahead].sum())
    if procs[head] <= idle:
        return f"{early.name} lets it pass {name}, which fits too ({procs[head]} of {idle} idle processors)"
    holders = np.concatenate((state.running, ahead))
    ends = np.concatenate((early.start[state.running], np.full(len(ahead), now))) + request[holders]
    order = np.lexsort((procs[holders], ends))
    sums = idle + np.cumsum(procs[holders][order])
    enough = int(np.searchsorted(sums, procs[head]))
    if enough == len(sums):
        return f"{early.name} lets it pass {name}, which is wider than the site; {late.name} does not"
    shadow = float(ends[order][enough])
    between = started[(started > head) & (started < row)]
    backfilled = int(procs[between[now + request[between] > shadow]].sum())
    spare = int(sums[enough]) - int(procs[head]) - backfilled
    most = idle + int(procs[holders][ends <= shadow].sum()) - int(procs[head]) - backfilled
    until, end = f"{name} can start, at {_s(shadow)}", now + request[row]
    instead = _instead(state, row, late)
    if end == shadow:
        return f"it would end at the very instant at which {until}; {late.name} {instead}"
    if end < shadow:
        return f"it would end at {_s(end)}, before {until}; {late.name} {instead}"
    if procs[row] <= spare:
        return f"it leaves enough processors when {until}; {late.name} {instead}"
    if procs[row] <= most:
        return (
            f"{early.name} counts all jobs that end when {until}: {most} spare processors; {late.name}"
            f" counts the first that suffice: {spare}"
        )
    return (
        f"{early.name} lets it pass {name}, which it may delay: it would end at {_s(end)}, after {_s(shadow)}, and"
        f" requests {procs[row]} of {max(spare, 0)} spare processors"
    )


def _instead(state: _State, row: int, late: _Side) -> str:
    """Return what the simulator that does not start the job does."""
    jobs, queue = state.jobs, state.queue
    started = queue[late.start[queue] == state.now]
    if jobs.procs[row] > state.free - int(jobs.procs[started].sum()):
        return f"starts {_jobs(jobs, started)} instead"
    return "leaves it waiting"


def _jobs(jobs: JobTable, rows: _Rows) -> str:
    names = ", ".join(str(jobs.job[row]) for row in rows[:3])
    return f"job{'s' * (len(rows) > 1)} {names}{' …' if len(rows) > 3 else ''}"


def _s(time: float) -> str:
    return f"{float(time):.15g} s"


def _at(time: float) -> str:
    return f"at {_s(time)}" if math.isfinite(time) else "never"
