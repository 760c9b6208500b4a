"""The wide-area world: sites with slots and links, jobs whose stages read data at sites, a placement policy.

A task holds a slot of its site from when it begins to read until it has computed. It reads over the uplink of
where its input lies and the downlink of its site, shared max-min fairly by all concurrent reads, or at once where
its input lies at its site. A stage that reads from all sites is ready when its parents have ended; what they wrote
lies where their tasks ran. Slots that a change takes away are given up as tasks end; links change at once.

At each instant everything that happens is taken in first; then the policy is asked, not more often than every
``decide_every`` seconds, and while some task waits. Links are looked at not more often than every ``look_every``
seconds: with 0 rates are exact at every instant; with more, reads begin and end up to so much later, and a link is
never used beyond its capacity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.compiled import Kernel
from windlass.drive import Decider, drive
from windlass.model import PolicyError
from windlass.model.fleet import Changes, Fleet, FleetJobs
from windlass.place.view import Placement, PlaceView, Ready, Sites
from windlass.sim.fleet import state as at
from windlass.sim.fleet.loop import ADVANCE, COMMIT, DONE, FULL, RIGHT, STUCK, refused
from windlass.sim.fleet.state import World, make_world

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FleetRun:
    """What happened.

    Parameters
    ----------
    fleet, jobs
        What ran, and where.
    end
        (J,) when each job ended, s.
    sent
        (J,) bytes that each job sent between sites.
    carried
        (n, n) bytes sent by each pair of sites.
    site, source
        (T,) where each task ran and read (-1: from all sites).
    begun, read, computed
        (T,) when it took its slot, had its input, and gave the slot back, s.
    flows
        (f, 6) start, end, bytes, source, site, stage of each read between sites; empty unless logged.
    rates
        (r, 4) time, source, site, bytes/s of a pair from then on; empty unless logged.
    decisions
        How often the policy was asked.
    reasons
        How many tasks were started for which reason.
    """

    fleet: Fleet
    jobs: FleetJobs
    end: _Floats
    sent: _Floats
    carried: _Floats
    site: _Ints
    source: _Ints
    begun: _Floats
    read: _Floats
    computed: _Floats
    flows: _Floats
    rates: _Floats
    decisions: int
    reasons: dict[str, int]

    @property
    def response(self) -> _Floats:
        """(J,) end − submit, s."""
        result: _Floats = self.end - self.jobs.submit
        return result


def kernels() -> tuple[Kernel, ...]:
    """What a run needs compiled, the policy's own left out."""
    return ADVANCE, COMMIT


class SimulatedFleet:
    """The wide-area world as an engine: see :class:`windlass.drive.Engine`.

    Parameters
    ----------
    fleet, jobs
        What runs where.
    changes
        Of slots and links.
    look_every, decide_every
        Least time between looks at the links, and between decisions, s.
    log
        Whether to keep every read and every change of a rate.
    progress
        Told the share of jobs that ended.
    """

    def __init__(
        self,
        fleet: Fleet,
        jobs: FleetJobs,
        *,
        changes: Changes | None = None,
        look_every: float = 0.0,
        decide_every: float = 0.0,
        log: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self._fleet, self._jobs, self._progress = fleet, jobs, progress
        self._world = make_world(fleet, jobs, changes or Changes.none(), look_every, decide_every, log)
        self._advance, self._commit = ADVANCE.ready(), COMMIT.ready()
        self._following = following_work(jobs)
        self._plan = np.full_like(self._world.here, -1)
        self._stages: _Ints = np.empty(0, np.int64)
        self._reasons: dict[str, int] = {}
        self._decisions = 0
        self._now = 0.0

    def wait(self) -> bool:
        """Go on until a decision is due; False when all jobs ended."""
        while True:
            self._now, status = self._advance(self._world)
            world = self._world
            if status == FULL:
                self._world = at.grown(world, 0, 0)
                continue
            if status == DONE:
                return False
            if status == STUCK:
                left = int(len(self._jobs) - world.numbers[at.ENDED])
                raise PolicyError(f"leaves tasks of {left} jobs waiting for ever")
            self._stages = np.flatnonzero((world.waiting > 0) & (world.is_ready > 0))
            world.numbers[at.WANTED] = 0
            world.clocks[at.DECIDED], world.clocks[at.WAKE] = self._now, np.inf
            if len(self._stages):
                return True
            world.numbers[at.RESOURCES] = 0

    def view(self) -> PlaceView:
        """Sites, and the stages of which tasks wait."""
        return _view(self._world, self._now, self._stages, self._jobs, self._following, self._plan)

    def act(self, answer: Placement) -> None:
        """Start tasks and move input."""
        self._decisions += 1
        self._world.numbers[at.RESOURCES] = 0
        if not answer.wake > self._now:
            raise PolicyError(f"wants to be asked at {answer.wake} s, which is past at {self._now} s")
        self._world.clocks[at.WAKE] = answer.wake
        if answer.plan is not None:
            self._plan[self._stages] = answer.plan
        rows = len(answer.starts) + len(answer.moves)
        reads = int((answer.starts[:, 1] < 0).sum()) * len(self._fleet) + rows
        self._world = at.grown(self._world, reads, rows)
        wrong, row = self._commit(
            self._world, self._now, self._stages, answer.starts, answer.moves, answer.largest_first
        )
        if wrong != RIGHT:
            raise refused(answer, wrong, row)
        for code, tasks in zip(answer.why.tolist(), answer.starts[:, 3].tolist(), strict=True):
            reason = answer.reasons[code]
            self._reasons[reason] = self._reasons.get(reason, 0) + tasks
        if self._progress is not None and self._decisions % 64 == 0:
            self._progress(int(self._world.numbers[at.ENDED]) / len(self._jobs))

    def result(self) -> FleetRun:
        """What happened."""
        world = self._world
        begun, read, computed = world.times
        return FleetRun(
            self._fleet,
            self._jobs,
            world.end,
            world.sent,
            world.carried,
            world.where[0],
            world.where[1],
            begun,
            read,
            computed,
            world.flow_log[: world.numbers[at.LOGGED]],
            world.rate_log[: world.numbers[at.RATES]],
            self._decisions,
            self._reasons,
        )

    def close(self) -> None:
        """Nothing to stop."""


def simulate(
    fleet: Fleet,
    jobs: FleetJobs,
    policy: Decider[PlaceView, Placement],
    *,
    changes: Changes | None = None,
    look_every: float = 0.0,
    decide_every: float = 0.0,
    log: bool = False,
    progress: Callable[[float], None] | None = None,
) -> FleetRun:
    """Run jobs through a placement policy; the parameters are those of :class:`SimulatedFleet`.

    Raises
    ------
    PolicyError
        The policy's answer cannot be carried out, or it leaves tasks waiting for ever.

    Examples
    --------
    >>> from windlass.place.policies.in_place import InPlace
    >>> from windlass.model.fleet import StageSpec
    >>> fleet = Fleet.of(slots=[40, 10, 20], up=[5e9, 1e9, 2e9], down=[5e9, 1e9, 5e9])
    >>> jobs = FleetJobs.of([0.0], [[StageSpec(2.0, here=(200, 300, 500), task_bytes=1e8)]])
    >>> simulate(fleet, jobs, InPlace()).end.tolist()
    [60.0]
    """
    engine = SimulatedFleet(
        fleet,
        jobs,
        changes=changes,
        look_every=look_every,
        decide_every=decide_every,
        log=log,
        progress=progress,
    )
    return drive(engine, policy)


def following_work(jobs: FleetJobs) -> _Floats:
    """Slot-seconds of the stages that read each stage's output."""
    work = jobs.tasks * jobs.estimate_s
    total = np.zeros(len(work))
    np.add.at(total, np.repeat(np.arange(len(work)), np.diff(jobs.child_at)), work[jobs.children])
    return total


def _view(
    world: World, now: float, stages: _Ints, jobs: FleetJobs, following: _Floats, plan: _Ints
) -> PlaceView:
    used = world.rate * world.weight
    up, down = world.links[0].copy(), world.links[1].copy()
    waiting = world.waiting[stages]
    here = world.here[stages]
    shuffles = world.shuffles[stages]
    total = world.tasks[stages]
    part = np.where(
        shuffles[:, None] > 0,
        world.data[stages] * (waiting / total)[:, None],
        here * world.task_bytes[stages, None],
    )
    job = world.job[stages]
    ready = Ready(
        job,
        world.stages_left[job],
        shuffles,
        total,
        waiting,
        jobs.estimate_s[stages],
        following[stages],
        world.ratio[stages],
        world.since[stages],
        here,
        part,
        world.started[stages],
        world.running[stages],
        plan[stages],
    )
    sites = Sites(
        world.slots.copy(),
        world.free.copy(),
        up,
        down,
        np.maximum(up - used.sum(axis=1), 0.0),
        np.maximum(down - used.sum(axis=0), 0.0),
    )
    fresh = (
        (world.begun[stages] == 0) & (world.here[stages].sum(axis=1) == total) & (world.sent[job] == 0)
    ).astype(np.int64)
    return PlaceView(now, sites, ready, fresh, bool(world.numbers[at.RESOURCES]))
