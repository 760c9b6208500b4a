"""Jobs of one site: observations of their run on a real batch system, and the simulation of the same jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.drive import Engine
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.result import BatchRun
from windlass.engines.batch.system import BatchSystem, Cancelled, Ended, Event, Started
from windlass.model import JobTable
from windlass.order.site import SitePolicy
from windlass.order.site.view import SiteView, Start
from windlass.sim import replay

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]

#: Processors of a job as shares of the site: most jobs are narrow, some need the whole site.
_WIDTHS = np.array([1, 1, 1, 2, 2, 3, 4, 6, 8]) / 8.0


def mixed_jobs(count: int, processors: int, rng: np.random.Generator) -> JobTable:
    """Draw jobs of 1 to 4 s that request one to five minutes, all submitted at once, so that some can be backfilled.

    >>> jobs = mixed_jobs(9, 8, np.random.default_rng(1))
    >>> len(jobs), int(jobs.procs.max()) <= 8, float(jobs.request.min()) >= 60.0
    (9, True, True)
    """
    procs = np.maximum(1, np.round(rng.choice(_WIDTHS, count) * processors)).astype(np.int64)
    run = rng.integers(10, 41, count) / 10.0
    return JobTable.of(np.zeros(count), run, procs, rng.integers(1, 6, count) * 60.0)


def _on_grid(seconds: _Floats | float) -> _Floats:
    """Round times to multiples of 2⁻²² s, the resolution of Unix times since 2004 in float64.

    Sums and differences of such times are exact, so events at one instant are at one instant in the simulator too.
    With decimal fractions they would not be: 0.1 + 0.2 is later than 0.3.
    """
    return np.round(np.asarray(seconds, dtype=np.float64) * 2.0**22) / 2.0**22


@dataclass(frozen=True, slots=True)
class Observed:
    """Observations of jobs in a real run, in the order of the table.

    Parameters
    ----------
    released
        (n,) when each job was released, s after the first release.
    occupied
        (n,) how long each job occupied its processors, s: from its release until the engine processed its end.
    reported
        (n,) time from each job's release until the engine processed its start, s.
    started
        (n,) time from each job's release to its start as recorded by the batch system, s.
    """

    released: _Floats
    occupied: _Floats
    reported: _Floats
    started: _Floats

    def as_observed(self, jobs: JobTable) -> JobTable:
        """Return the jobs with run times equal to how long they occupied their processors."""
        return JobTable(jobs.job, jobs.submit, self.occupied, jobs.procs, jobs.request)


def longer(jobs: JobTable, seconds: float) -> JobTable:
    """Return the jobs with ``seconds`` added to each run time."""
    return JobTable(jobs.job, jobs.submit, jobs.run + seconds, jobs.procs, jobs.request)


@dataclass(slots=True)
class ObservedEngine:
    """A site's engine that records releases, starts and ends at the times of the decisions that process them.

    Only the state at a decision affects a schedule. An end that is read a few ms before a decision is therefore
    recorded at the time of that decision, as in a simulator.

    Parameters
    ----------
    engine
        Engine of the site.
    system
        Batch system of the engine, which records started and ended jobs.
    """

    engine: Engine[BatchRun]
    system: RecordingSystem
    now: float = 0.0
    released: dict[int, float] = field(default_factory=dict)
    started: dict[int, float] = field(default_factory=dict)
    ended: dict[int, float] = field(default_factory=dict)

    def wait(self) -> str | None:
        """Wait for a decision, and record the starts and ends since the last one at its time."""
        due = self.engine.wait()
        self.now = float(_on_grid(self.system.now()))
        for job in self.system.started:
            self.started.setdefault(job, self.now)
        for job in self.system.ended:
            self.ended.setdefault(job, self.now)
        self.system.started.clear()
        self.system.ended.clear()
        return due

    def view(self, decision: str) -> SiteView:
        """Return the view of the policy."""
        view: SiteView = self.engine.view(decision)
        return view

    def act(self, decision: str, answer: Start) -> None:
        """Carry out the answer, and record its jobs as released."""
        self.engine.act(decision, answer)
        for job in answer.jobs:
            self.released[int(job)] = self.now

    def result(self) -> BatchRun:
        """Return the run."""
        return self.engine.result()

    def close(self) -> None:
        """Close the engine."""
        self.engine.close()

    def observed(self, run: BatchRun) -> Observed:
        """Return the observations of the jobs of a run, in the order of their numbers."""
        numbers = np.sort(run.job).tolist()
        released, reported, ended = (
            np.array([times[job] for job in numbers]) for times in (self.released, self.started, self.ended)
        )
        started = _on_grid(run.start[np.argsort(run.job)])
        return Observed(released - released.min(), ended - released, reported - released, started - released)


class RecordingSystem:
    """A batch system that collects which jobs started and ended until the caller clears its lists."""

    def __init__(self, system: BatchSystem) -> None:
        self._system = system
        self.started: list[int] = []
        self.ended: list[int] = []
        self.processors = system.processors
        self.now, self.start, self.describe, self.close = (
            system.now,
            system.start,
            system.describe,
            system.close,
        )

    def poll(self, timeout: float) -> list[Event]:
        """Return the events since the last call, and collect starts and ends."""
        events = self._system.poll(timeout)
        self.started += [event.job for event in events if isinstance(event, Started)]
        self.ended += [event.job for event in events if isinstance(event, Ended | Cancelled)]
        return events


def observe(system: BatchSystem) -> ObservedEngine:
    """Return an engine of a batch system that records what a later simulation of the same run needs."""
    recording = RecordingSystem(system)
    return ObservedEngine(LiveSite(recording), recording)


def simulate_releases(jobs: JobTable, processors: int, policy: SitePolicy) -> _Floats:
    """Return when the simulator starts each job, s after the first submission; no job is stopped at its request."""
    start: _Floats = replay(jobs, processors, policy, kill=False).start
    return start


def start_order(jobs: JobTable, released: Sequence[float] | _Floats | _Ints) -> list[int]:
    """Return the numbers of jobs in the order of their release; jobs released at one instant are sorted by number."""
    return [int(jobs.job[place]) for place in np.lexsort((jobs.job, np.asarray(released)))]
