"""Jobs of one site on a real batch system: what was let go when, and the same jobs simulated."""

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

#: Widths of jobs as shares of a site: most are narrow, some need nearly all of it.
_WIDTHS = np.array([1, 1, 1, 2, 2, 3, 4, 6, 8]) / 8.0


def mixed_jobs(count: int, processors: int, rng: np.random.Generator) -> JobTable:
    """Jobs of 1 to 4 s, all submitted at once, which ask for one to five minutes: there is always one to backfill.

    >>> jobs = mixed_jobs(9, 8, np.random.default_rng(1))
    >>> len(jobs), int(jobs.procs.max()) <= 8, float(jobs.request.min()) >= 60.0
    (9, True, True)
    """
    procs = np.maximum(1, np.round(rng.choice(_WIDTHS, count) * processors)).astype(np.int64)
    run = rng.integers(10, 41, count) / 10.0
    return JobTable.of(np.zeros(count), run, procs, rng.integers(1, 6, count) * 60.0)


def _on_grid(seconds: _Floats | float) -> _Floats:
    """Times as multiples of 2⁻²² s, as all clocks since 2004 tell them in float64.

    Sums and differences of such times are exact, so that what happened at one instant does so in a simulator too. In
    decimal fractions it would not: 0.1 + 0.2 is later than 0.3.
    """
    return np.round(np.asarray(seconds, dtype=np.float64) * 2.0**22) / 2.0**22


@dataclass(frozen=True, slots=True)
class Observed:
    """What was seen of jobs that ran for real, in the order of the table.

    Parameters
    ----------
    let_go
        (n,) when each was let go, s after the first decision.
    held
        (n,) how long its processors were taken, from then until its end was taken in, s.
    heard
        (n,) how long after it was let go its start was taken in, s.
    began
        (n,) how long after it was let go the system says that it started, s.
    """

    let_go: _Floats
    held: _Floats
    heard: _Floats
    began: _Floats

    def as_seen(self, jobs: JobTable) -> JobTable:
        """The jobs as long as their processors were taken."""
        return JobTable(jobs.job, jobs.submit, self.held, jobs.procs, jobs.request)


def longer(jobs: JobTable, seconds: float) -> JobTable:
    """The jobs, each so much longer."""
    return JobTable(jobs.job, jobs.submit, jobs.run + seconds, jobs.procs, jobs.request)


@dataclass(slots=True)
class Instants:
    """An engine whose decisions and ends are put on one clock: what one decision took in happened at its instant.

    Only what a policy is asked upon matters to a schedule. An end that is read a few ms before the policy is asked is
    at the instant of the question here, as it is in a simulator.

    Parameters
    ----------
    engine
        A site's engine.
    system
        Its system, which tells what has ended.
    """

    engine: Engine[BatchRun]
    system: Kept
    now: float = 0.0
    let_go: dict[int, float] = field(default_factory=dict)
    started: dict[int, float] = field(default_factory=dict)
    ended: dict[int, float] = field(default_factory=dict)

    def wait(self) -> str | None:
        """Wait for a decision, whose instant it then is."""
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
        """What the policy sees."""
        view: SiteView = self.engine.view(decision)
        return view

    def act(self, decision: str, answer: Start) -> None:
        """Carry out the answer."""
        self.engine.act(decision, answer)
        for job in answer.jobs:
            self.let_go[int(job)] = self.now

    def result(self) -> BatchRun:
        """What happened."""
        return self.engine.result()

    def close(self) -> None:
        """Let go of the system."""
        self.engine.close()

    def observed(self, run: BatchRun) -> Observed:
        """What was seen of the jobs of a run, by their numbers."""
        numbers = np.sort(run.job).tolist()
        let_go, started, ended = (
            np.array([told[job] for job in numbers]) for told in (self.let_go, self.started, self.ended)
        )
        began = _on_grid(run.start[np.argsort(run.job)])
        return Observed(let_go - let_go.min(), ended - let_go, started - let_go, began - let_go)


class Kept:
    """A batch system that keeps which jobs have started and ended since somebody asked."""

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
        """What has happened since."""
        events = self._system.poll(timeout)
        self.started += [event.job for event in events if isinstance(event, Started)]
        self.ended += [event.job for event in events if isinstance(event, Ended | Cancelled)]
        return events


def watched(system: BatchSystem) -> Instants:
    """A site's engine on a system, with what is needed to simulate the same afterwards."""
    kept = Kept(system)
    return Instants(LiveSite(kept), kept)


def simulated(jobs: JobTable, processors: int, policy: SitePolicy) -> _Floats:
    """When the simulator lets each job go, s after the first decision; nobody is stopped at its request."""
    start: _Floats = replay(jobs, processors, policy, kill=False).start
    return start


def start_order(jobs: JobTable, let_go: Sequence[float] | _Floats | _Ints) -> list[int]:
    """Numbers of jobs in the order in which they were let go, those of one instant by number."""
    return [int(jobs.job[place]) for place in np.lexsort((jobs.job, np.asarray(let_go)))]
