"""What runs, waits, started and ended: one watch for each part of the simulation that has jobs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.control.journal import DecisionRecord, EventRecord, JobKey
from windlass.control.site_status import MOST_PAST, JobState, PastJob, QueueStatus
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model.vectors import VectorJobs
from windlass.report.units import counted, duration
from windlass.sim.instances.result import Scaled
from windlass.sim.site.result import Replay

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LoadName:
    """The engine, the load and the site that a watch observes; the site of a load over all sites is empty."""

    engine: str
    load: str
    site: str

    def key(self, job: int) -> JobKey:
        """Return the job with a number."""
        return JobKey(self.engine, self.site, f"{self.load}/{job}")


@dataclass(frozen=True, slots=True)
class SeenJobs:
    """What a watch observed at an instant.

    Parameters
    ----------
    running, waiting
        The jobs now; waiting ones in the order of the queue.
    events, decisions
        What happened since the observation before.
    queue
        The queue of batch jobs; None for other jobs.
    """

    running: list[JobState]
    waiting: list[JobState]
    events: list[EventRecord] = field(default_factory=list)
    decisions: list[DecisionRecord] = field(default_factory=list)
    queue: QueueStatus | None = None


class JobWatch(Protocol):
    """Observes the jobs of a part."""

    name: LoadName

    def look(self, now: float) -> SeenJobs:
        """Return the jobs at an instant (s), and what happened since the call before."""
        ...


class TimeChanges:
    """Compares columns of times with those of the call before."""

    def __init__(self, submit: _Floats) -> None:
        self._submit, self._at = submit, -np.inf
        self._start = self._end = np.full(len(submit), np.nan)

    def of(self, now: float, start: _Floats, end: _Floats) -> tuple[list[int], list[int], list[int]]:
        """Return the rows that were submitted, started and ended since the call before."""
        submitted = np.flatnonzero((self._submit > self._at) & (self._submit <= now))
        started = np.flatnonzero(np.isfinite(start) & (start != self._start))
        ended = np.flatnonzero(np.isfinite(end) & (end != self._end) & (end <= now))
        self._at, self._start, self._end = now, start.copy(), np.where(end <= now, end, np.nan)
        return submitted.tolist(), started.tolist(), ended.tolist()


class BatchWatch:
    """Observes rigid jobs of one site.

    Parameters
    ----------
    name
        The load and its site.
    part
        The part of the simulation; its view and its result are read.
    policy
        Name of the policy that orders the queue.
    replayed
        The policy of replays of the queue; None if there is none.
    """

    def __init__(self, name: LoadName, part: Any, policy: str, replayed: PolicySpec | None = None) -> None:
        self.name, self._part, self._policy, self._replayed = name, part, policy, replayed
        jobs = part.result().jobs
        self._row = {int(job): row for row, job in enumerate(jobs.job.tolist())}
        self._changes = TimeChanges(jobs.submit)
        self._lost = 0

    def look(self, now: float) -> SeenJobs:
        """See :class:`JobWatch`."""
        view, replay = self._part.view("order"), self._part.result()
        running = []
        for job in view.running.job.tolist():
            row = self._row[job]
            why = replay.reasons[int(replay.why[row])]
            start, procs = float(replay.start[row]), int(replay.jobs.procs[row])
            request = float(replay.jobs.request[row])
            running.append(JobState(f"{self.name.load}/{job}", "batch job", start, procs, why, request))
        waiting = []
        for place, (job, submit, procs, request) in enumerate(
            zip(
                view.waiting.job.tolist(),
                view.waiting.submit.tolist(),
                view.waiting.procs.tolist(),
                view.waiting.request.tolist(),
                strict=True,
            )
        ):
            why = _batch_wait(place, procs, max(int(view.free), 0))
            waiting.append(JobState(f"{self.name.load}/{job}", "batch job", submit, procs, why, request))
        return SeenJobs(
            running, waiting, *self._happened(now, replay), self._queue(now, replay, int(view.free))
        )

    def _queue(self, now: float, replay: Replay, free: int) -> QueueStatus | None:
        if self._replayed is None:
            return None
        ended = np.flatnonzero(np.isfinite(replay.start) & (replay.end <= now))
        last = ended[np.argsort(replay.end[ended], kind="stable")][-MOST_PAST:]
        jobs = replay.jobs
        past = zip(
            *(
                each[last].tolist()
                for each in (jobs.submit, replay.start, replay.end, jobs.procs, jobs.request)
            ),
            strict=True,
        )
        return QueueStatus(
            self._replayed.name,
            dict(self._replayed.parameters),
            max(free, 0),
            tuple(PastJob(*row) for row in past),
        )

    def _happened(self, now: float, replay: Replay) -> tuple[list[EventRecord], list[DecisionRecord]]:
        jobs, events, decisions = replay.jobs, list[EventRecord](), list[DecisionRecord]()
        submitted, started, ended = self._changes.of(now, replay.start, replay.end)
        for row in submitted:
            text = (
                f"requests {counted(int(jobs.procs[row]), 'core')} for {duration(float(jobs.request[row]))}"
            )
            events.append(EventRecord(float(jobs.submit[row]), self._key(row, replay), "submitted", text))
        for row in started:
            at, why = float(replay.start[row]), replay.reasons[int(replay.why[row])]
            events.append(EventRecord(at, self._key(row, replay), "started", why))
            decisions.append(DecisionRecord(at, self._key(row, replay), "order", self._policy, "start", why))
        for place in range(self._lost, len(replay.lost)):
            row, at = int(replay.lost[place]), float(replay.lost_end[place])
            events.append(EventRecord(at, self._key(row, replay), "killed", "lost its cores; it is requeued"))
        self._lost = len(replay.lost)
        for row in ended:
            at = float(replay.end[row])
            events.append(
                EventRecord(at, self._key(row, replay), "ended", f"ran {at - replay.start[row]:.0f} s")
            )
        return events, decisions

    def _key(self, row: int, replay: Replay) -> JobKey:
        return self.name.key(int(replay.jobs.job[row]))


def _batch_wait(place: int, procs: int, free: int) -> str:
    """Return why a batch job waits.

    >>> _batch_wait(0, 8, 3), _batch_wait(2, 2, 3)
    ('first in the queue; needs 8 cores, 3 idle', '2 jobs ahead; needs 2 cores, 3 idle for the jobs ahead')
    >>> _batch_wait(1, 1, 0)
    '1 job ahead; needs 1 core, 0 idle'
    """
    ahead = "first in the queue" if place == 0 else f"{counted(place, 'job')} ahead"
    why = f"{ahead}; needs {counted(procs, 'core')}, {free:,} idle"
    return why if procs > free or place == 0 else f"{why} for the jobs ahead"


class InstanceWatch:
    """Observes jobs on the elastic instances of one site.

    Parameters
    ----------
    name
        The load and its site.
    part
        The part of the simulation; its result is read.
    """

    def __init__(self, name: LoadName, part: Any) -> None:
        self.name, self._part = name, part
        self._changes = TimeChanges(part.result().jobs.submit)

    def look(self, now: float) -> SeenJobs:
        """See :class:`JobWatch`."""
        done: Scaled = self._part.result()
        jobs: VectorJobs = done.jobs

        def key(row: int) -> JobKey:
            return self.name.key(int(jobs.job[row]))

        submitted, started, ended = self._changes.of(now, done.start, done.end)
        events = [
            EventRecord(float(jobs.submit[row]), key(row), "submitted", _cores_text(jobs, row))
            for row in submitted
        ]
        events += [
            EventRecord(float(done.start[row]), key(row), "started", "an instance has room")
            for row in started
        ]
        events += [EventRecord(float(done.end[row]), key(row), "ended") for row in ended]
        there, has_room = jobs.submit <= now, np.isfinite(done.start)
        running = np.flatnonzero(there & has_room & ~(done.end <= now))
        waiting = np.flatnonzero(there & ~has_room)
        launched = np.isnan(done.launches.gone)
        up = int((launched & (done.launches.ready <= now)).sum())
        most = sum(kind.most for kind in done.fleet.types)
        why = f"no instance has room: {up} up of at most {most}, {int(launched.sum()) - up} starting"
        return SeenJobs(
            [
                self._state(done, row, float(done.start[row]), "an instance has room")
                for row in running.tolist()
            ],
            [self._state(done, row, float(jobs.submit[row]), why) for row in waiting.tolist()],
            events,
        )

    def _state(self, done: Scaled, row: int, since: float, why: str) -> JobState:
        cores = int(np.ceil(done.jobs.resources[row, 1]))
        return JobState(f"{self.name.load}/{int(done.jobs.job[row])}", "vector job", since, cores, why)


def _cores_text(jobs: VectorJobs, row: int) -> str:
    return f"requests {jobs.resources[row, 1]:g} cores of an instance"
