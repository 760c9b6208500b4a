"""What runs, waits, started and ended of the loads over all sites: streaming queries, and staged jobs."""

from __future__ import annotations

from typing import Any

import numpy as np

from windlass.control.demo.watches import LoadName, SeenJobs, TimeChanges
from windlass.control.journal import EventRecord
from windlass.control.site_status import JobState
from windlass.sim.fleet.result import FleetRun
from windlass.sim.queries.result import Streamed


class QueryWatch:
    """Observes streaming queries over all sites.

    Parameters
    ----------
    name
        The load.
    part
        The part of the simulation; its result is read.
    """

    def __init__(self, name: LoadName, part: Any) -> None:
        self.name, self._part = name, part
        self._stays = part.result().stays
        self._changes = TimeChanges(self._stays.arrive)
        # Whether a query runs is the planner's answer, and not a time.
        self._starts = np.full(len(self._stays.arrive), np.inf)

    def look(self, now: float) -> SeenJobs:
        """See :class:`~windlass.control.demo.watches.JobWatch`."""
        stays = self._stays
        submitted, _, ended = self._changes.of(now, self._starts, stays.leave)
        key = self.name.key
        events = [EventRecord(float(stays.arrive[row]), key(row + 1), "submitted") for row in submitted]
        events += [EventRecord(float(stays.leave[row]), key(row + 1), "ended", "left") for row in ended]
        result: Streamed = self._part.result()
        running, waiting = list[JobState](), list[JobState]()
        planned = dict[int, tuple[int, str]]()
        if result.answers:
            last = result.answers[-1]
            planned = {
                query: (choice, why)
                for query, choice, why in zip(
                    last.query.tolist(), last.choice.tolist(), last.why, strict=True
                )
            }
        for row in np.flatnonzero((stays.arrive <= now) & (stays.leave > now)).tolist():
            choice, why = planned.get(row, (-1, "the planner has not answered yet"))
            state = JobState(f"{self.name.load}/{row + 1}", "query", float(stays.arrive[row]), 0, why)
            (running if choice >= 0 else waiting).append(state)
        return SeenJobs(running, waiting, events)


class StagedWatch:
    """Observes staged jobs over all sites.

    Parameters
    ----------
    name
        The load.
    part
        The part of the simulation; its result is read.
    """

    def __init__(self, name: LoadName, part: Any) -> None:
        self.name, self._part = name, part
        jobs = part.result().jobs
        self._changes = TimeChanges(jobs.submit)
        stages = jobs.stage0
        self._tasks = jobs.job_tasks
        #: The first task of each job.
        self._first = jobs.first[stages[:-1]]

    def look(self, now: float) -> SeenJobs:
        """See :class:`~windlass.control.demo.watches.JobWatch`."""
        done: FleetRun = self._part.result()
        # A task that has not started has the time 0.
        begun, end = done.begun > 0.0, done.end
        tasks = np.add.reduceat(begun.astype(np.int64), self._first)
        start = np.minimum.reduceat(np.where(begun, done.begun, np.inf), self._first)
        submitted, started, ended = self._changes.of(now, start, end)
        key = self.name.key
        events = [
            EventRecord(float(done.jobs.submit[row]), key(row + 1), "submitted", f"{self._tasks[row]} tasks")
            for row in submitted
        ]
        events += [
            EventRecord(float(start[row]), key(row + 1), "started", "its first task") for row in started
        ]
        events += [EventRecord(float(end[row]), key(row + 1), "ended") for row in ended]
        running, waiting = list[JobState](), list[JobState]()
        for row in np.flatnonzero((done.jobs.submit <= now) & ~(end <= now)).tolist():
            text = f"{tasks[row]} of {self._tasks[row]} tasks started"
            runs = bool(np.isfinite(start[row]))
            since = float(start[row] if runs else done.jobs.submit[row])
            state = JobState(f"{self.name.load}/{row + 1}", "staged job", since, 0, text)
            (running if runs else waiting).append(state)
        return SeenJobs(running, waiting, events)
