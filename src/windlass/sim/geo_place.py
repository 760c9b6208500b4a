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
from numba import types
from numpy.typing import NDArray

from windlass.compiled import Kernel
from windlass.model import PolicyError
from windlass.place import PlacePolicy
from windlass.place.view import Placement, PlaceView, Ready, Sites
from windlass.sim import geo_place_state as at
from windlass.sim.geo_place_state import (
    WORLD,
    World,
    add_flow,
    carried_by,
    end_reading,
    end_task,
    look,
    make_ready,
    make_world,
)
from windlass.sim.geo_place_workload import Changes, GeoJobs, WideArea
from windlass.sim.heap import next_time, pop

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: How :func:`_advance` ended: a decision is due, all jobs ended, nothing will ever happen again, logs are full.
_DUE, _DONE, _STUCK, _FULL = range(4)
#: What is wrong with an answer.
_RIGHT, _NO_SLOT, _NO_TASK, _NO_LINK, _BAD_SITE, _LATE_MOVE = range(6)


def _advance(world):  # type: ignore[no-untyped-def]
    """Go on until a decision is due; the instant and how it ended."""
    n = len(world.slots)
    numbers, clocks = world.numbers, world.clocks
    while True:
        if numbers[at.LOGS]:
            spare = len(world.flow_log) - numbers[at.LOGGED]
            if spare < numbers[at.FLOWS] + 1 or len(world.rate_log) - numbers[at.RATES] < n * n:
                return clocks[at.LOOKED], _FULL
        if numbers[at.FLOWS_NEW]:
            clocks[at.LOOK] = clocks[at.LOOKED] + clocks[at.LOOK_EVERY]
        submits = numbers[at.SUBMITTED] < len(world.submit)
        submit = world.submit[numbers[at.SUBMITTED]] if submits else np.inf
        changes = numbers[at.CHANGED] < len(world.change_time) and numbers[at.ENDED] < len(world.submit)
        change = world.change_time[numbers[at.CHANGED]] if changes else np.inf
        now = min(submit, change, next_time(world.heap), clocks[at.LOOK], clocks[at.WAKE])
        if numbers[at.WANTED]:
            due = max(clocks[at.DECIDED] + clocks[at.DECIDE_EVERY], clocks[at.NOW])
            if due <= now:
                clocks[at.NOW] = due
                return due, _DUE
        if now == np.inf:
            return now, _DONE if numbers[at.ENDED] == len(world.submit) else _STUCK
        now = max(now, clocks[at.NOW])
        clocks[at.NOW] = now
        if clocks[at.WAKE] <= now:
            clocks[at.WAKE] = np.inf
            numbers[at.WANTED] = 1
        while numbers[at.CHANGED] < len(world.change_time) and world.change_time[numbers[at.CHANGED]] <= now:
            row = numbers[at.CHANGED]
            site = world.change_ints[0, row]
            world.free[site] += world.change_ints[1, row] - world.slots[site]
            world.slots[site] = world.change_ints[1, row]
            world.links[0, site], world.links[1, site] = (
                world.change_links[0, row],
                world.change_links[1, row],
            )
            numbers[at.CHANGED] += 1
            numbers[at.WANTED] = numbers[at.RESOURCES] = 1
            if numbers[at.FLOWS] > 0:
                clocks[at.LOOK] = now
        while next_time(world.heap) <= now:
            _, place, task = pop(world.heap)
            end_task(world, now, place // n, place % n, task)
        if clocks[at.LOOK] <= now:
            look(world, now)
        while numbers[at.SUBMITTED] < len(world.submit) and world.submit[numbers[at.SUBMITTED]] <= now:
            job = numbers[at.SUBMITTED]
            stage = np.searchsorted(world.job, job)
            while stage < len(world.job) and world.job[stage] == job:
                if not world.shuffles[stage]:
                    make_ready(world, now, stage)
                stage += 1
            numbers[at.SUBMITTED] += 1


def _commit(world, now, stages, starts, moves, largest_first):  # type: ignore[no-untyped-def]
    """Carry out starts and moves; what is wrong and in which row, checked as they are carried out."""
    n = len(world.slots)
    for row in range(len(moves) + len(starts)):
        is_move = row < len(moves)
        line = moves[row] if is_move else starts[row - len(moves)]
        if line[0] < 0 or line[0] >= len(stages):
            return _NO_TASK, row
        stage, source, site, tasks = stages[line[0]], line[1], line[2], line[3]
        shuffles = world.shuffles[stage] != 0
        if site < 0 or site >= n or source >= n or (source < 0) != shuffles:
            return _BAD_SITE, row
        if tasks < 1 or tasks > world.waiting[stage] or (not shuffles and tasks > world.here[stage, source]):
            return _NO_TASK, row
        if is_move and (shuffles or world.begun[stage] > 0):
            return _LATE_MOVE, row
        if not is_move and tasks > world.free[site]:
            return _NO_SLOT, row
        batch = world.free_batches[world.numbers[at.BATCHES]]
        world.numbers[at.BATCHES] += 1
        world.waiting[stage] -= tasks
        if not shuffles:
            world.here[stage, source] -= tasks
        world.batch[0, batch], world.batch[1, batch], world.batch[2, batch] = stage, site, tasks
        world.batch[3, batch], world.batch[4, batch], world.batch[5, batch] = 0, 0, is_move
        if not is_move:
            if world.begun[stage] == 0:
                world.largest[stage] = largest_first
            world.batch[4, batch] = world.first[stage] + world.begun[stage]
            world.begun[stage] += tasks
            world.free[site] -= tasks
            world.started[stage, site] += tasks
            world.running[stage, site] += tasks
            world.since[stage] = now
            for position in range(world.batch[4, batch], world.batch[4, batch] + tasks):
                task = world.order[world.largest[stage], position]
                world.where[0, task], world.where[1, task] = site, source
                world.times[0, task] = now
        for x in range(n):
            if x == site or (not shuffles and x != source):
                continue
            carried = carried_by(world, stage, batch, x)
            if carried > 0.0:
                if world.links[0, x] <= 0.0 or world.links[1, site] <= 0.0 or world.pair[x, site] <= 0.0:
                    return _NO_LINK, row
                add_flow(world, now, x, site, batch, carried, tasks)
        if world.batch[3, batch] == 0:
            end_reading(world, now, batch)
    return _RIGHT, 0


ADVANCE = Kernel(_advance, types.Tuple((types.float64, types.int64))(WORLD), allocates=False)
COMMIT = Kernel(
    _commit,
    types.Tuple((types.int64, types.int64))(
        WORLD, types.float64, types.int64[::1], types.int64[:, ::1], types.int64[:, ::1], types.boolean
    ),
    allocates=False,
)


@dataclass(frozen=True, slots=True)
class GeoRun:
    """What happened.

    Parameters
    ----------
    area, jobs
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

    area: WideArea
    jobs: GeoJobs
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


def simulate(
    area: WideArea,
    jobs: GeoJobs,
    policy: PlacePolicy,
    *,
    changes: Changes | None = None,
    look_every: float = 0.0,
    decide_every: float = 0.0,
    log: bool = False,
    progress: Callable[[float], None] | None = None,
) -> GeoRun:
    """Run jobs through a placement policy.

    Parameters
    ----------
    area, jobs, policy
        What runs where, and who decides.
    changes
        Of slots and links.
    look_every, decide_every
        Least time between looks at the links, and between decisions, s.
    log
        Whether to keep every read and every change of a rate.
    progress
        Told the share of jobs that ended.

    Raises
    ------
    PolicyError
        The policy's answer cannot be carried out, or it leaves tasks waiting for ever.

    Examples
    --------
    >>> from windlass.place.in_place import InPlace
    >>> from windlass.sim.geo_place_workload import StageSpec
    >>> area = WideArea.of(slots=[40, 10, 20], up=[5e9, 1e9, 2e9], down=[5e9, 1e9, 5e9])
    >>> jobs = GeoJobs.of([0.0], [[StageSpec(2.0, here=(200, 300, 500), task_bytes=1e8)]])
    >>> simulate(area, jobs, InPlace()).end.tolist()
    [60.0]
    """
    world = make_world(area, jobs, changes or Changes.none(), look_every, decide_every, log)
    advance, commit = ADVANCE.ready(), COMMIT.ready()
    following = _following_work(jobs)
    plan = np.full_like(world.here, -1)
    reasons: dict[str, int] = {}
    decisions = 0
    n = len(area)
    while True:
        now, status = advance(world)
        if status == _FULL:
            world = at.grown(world, 0, 0)
            continue
        if status == _DONE:
            break
        if status == _STUCK:
            left = int(len(jobs) - world.numbers[at.ENDED])
            raise PolicyError(f"policy {policy.name!r} leaves tasks of {left} jobs waiting for ever")
        stages = np.flatnonzero((world.waiting > 0) & (world.is_ready > 0))
        world.numbers[at.WANTED] = 0
        world.clocks[at.DECIDED], world.clocks[at.WAKE] = now, np.inf
        if not len(stages):
            world.numbers[at.RESOURCES] = 0
            continue
        answer = policy.decide(_view(world, now, stages, jobs, following, plan))
        decisions += 1
        world.numbers[at.RESOURCES] = 0
        if not answer.wake > now:
            raise PolicyError(
                f"policy {policy.name!r} wants to be asked at {answer.wake} s, which is past at {now} s"
            )
        world.clocks[at.WAKE] = answer.wake
        if answer.plan is not None:
            plan[stages] = answer.plan
        rows = len(answer.starts) + len(answer.moves)
        reads = int((answer.starts[:, 1] < 0).sum()) * n + rows
        world = at.grown(world, reads, rows)
        wrong, row = commit(world, now, stages, answer.starts, answer.moves, answer.largest_first)
        if wrong != _RIGHT:
            raise _refused(policy, answer, wrong, row)
        for code, tasks in zip(answer.why.tolist(), answer.starts[:, 3].tolist(), strict=True):
            reason = answer.reasons[code]
            reasons[reason] = reasons.get(reason, 0) + tasks
        if progress is not None and decisions % 64 == 0:
            progress(int(world.numbers[at.ENDED]) / len(jobs))
    begun, read, computed = world.times
    return GeoRun(
        area,
        jobs,
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
        decisions,
        reasons,
    )


def _following_work(jobs: GeoJobs) -> _Floats:
    """Slot-seconds of the stages that read each stage's output."""
    work = jobs.tasks * jobs.estimate_s
    total = np.zeros(len(work))
    np.add.at(total, np.repeat(np.arange(len(work)), np.diff(jobs.child_at)), work[jobs.children])
    return total


def _view(
    world: World, now: float, stages: _Ints, jobs: GeoJobs, following: _Floats, plan: _Ints
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


def _refused(policy: PlacePolicy, answer: Placement, wrong: int, row: int) -> PolicyError:
    moves = len(answer.moves)
    line = (answer.moves[row] if row < moves else answer.starts[row - moves]).tolist()
    problem = {
        _NO_SLOT: "there are not so many free slots",
        _NO_TASK: "there are not so many waiting tasks",
        _NO_LINK: "there is no link on the way",
        _BAD_SITE: "there is no such site, or no such read",
        _LATE_MOVE: "the stage has begun, or reads from all sites",
    }[wrong]
    return PolicyError(f"policy {policy.name!r} answered (stage row, source, site, tasks) {line}: {problem}")
