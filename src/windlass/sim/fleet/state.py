"""State of the wide-area world as arrays, and the small functions that change it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.compiled import lean
from windlass.model.fleet import Changes, Fleet, FleetJobs
from windlass.sim.events.heap import HEAP, Heap, make_heap, push
from windlass.sim.links import share_links

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]

#: Entries of ``numbers``: jobs submitted, changes done, whether a decision is wanted, whether flows changed, flows
#: in use, batches in use, jobs ended, whether resources changed since the last decision, entries of both logs,
#: whether to log, whether pairs of sites have limits of their own.
SUBMITTED, CHANGED, WANTED, FLOWS_NEW, FLOWS, BATCHES, ENDED, RESOURCES, LOGGED, RATES, LOGS, LIMITED = range(
    12
)
#: Entries of ``clocks``: last look at the links, the next one, last decision, least time between looks and between
#: decisions; the present; when a policy wants to be asked at the latest, s.
LOOKED, LOOK, DECIDED, LOOK_EVERY, DECIDE_EVERY, NOW, WAKE = range(7)


class World(NamedTuple):
    """Everything that changes, and what it is read from; K stages, n sites, J jobs, T tasks."""

    heap: Heap
    numbers: _Ints
    clocks: _Floats
    # Of sites: slots, free; up, down.
    slots: _Ints
    free: _Ints
    links: _Floats
    pair: _Floats
    # Of stages.
    job: _Ints
    tasks: _Ints
    shuffles: _Ints
    task_s: _Floats
    ratio: _Floats
    task_bytes: _Floats
    child_at: _Ints
    children: _Ints
    first: _Ints
    parents_left: _Ints
    is_ready: _Ints
    begun: _Ints
    done: _Ints
    waiting: _Ints
    largest: _Ints
    since: _Floats
    here: _Ints
    data: _Floats
    started: _Ints
    running: _Ints
    # Of jobs: submit, end, bytes sent; stages left.
    submit: _Floats
    end: _Floats
    sent: _Floats
    stages_left: _Ints
    # Of tasks, and the two orders in which a stage's tasks may begin.
    factor: _Floats
    size: _Floats
    order: _Ints
    where: _Ints
    times: _Floats
    # Of pairs: flows (weight), rate and progress of each flow, bytes asked for so far, the flow that ends first.
    weight: _Floats
    rate: _Floats
    progress: _Floats
    carried: _Floats
    head: _Ints
    level: _Floats
    # Of flows: batch, next of its pair; progress at its end, what it carries.
    flow_ints: _Ints
    flow_end: _Floats
    free_flows: _Ints
    # Of batches: stage, site, tasks, flows under way, first position in the order, whether it is a move.
    batch: _Ints
    free_batches: _Ints
    # Of changes: time; site, slots; up, down.
    change_time: _Floats
    change_ints: _Ints
    change_links: _Floats
    # Logs: flows (start, end, bytes, source, site, stage), rates (time, source, site, bytes/s).
    flow_log: _Floats
    rate_log: _Floats


_ints, _floats = types.int64[::1], types.float64[::1]
_int_rows, _float_rows = types.int64[:, ::1], types.float64[:, ::1]
WORLD = types.NamedTuple(
    (
        *(HEAP, _ints, _floats, _ints, _ints, _float_rows, _float_rows),
        *(_ints, _ints, _ints, _floats, _floats, _floats, _ints, _ints, _ints),
        *(_ints, _ints, _ints, _ints, _ints, _ints, _floats, _int_rows, _float_rows, _int_rows, _int_rows),
        *(_floats, _floats, _floats, _ints),
        *(_floats, _floats, _int_rows, _int_rows, _float_rows),
        *(_float_rows, _float_rows, _float_rows, _float_rows, _int_rows, _float_rows),
        *(_int_rows, _float_rows, _ints),
        *(_int_rows, _ints),
        *(_floats, _int_rows, _float_rows),
        *(_float_rows, _float_rows),
    ),
    World,
)


def make_world(
    fleet: Fleet, jobs: FleetJobs, changes: Changes, look_every: float, decide_every: float, log: bool
) -> World:
    """The world before anything happens."""
    n, stages, total = len(fleet), len(jobs.job), int(jobs.first[-1])
    numbers, clocks = np.zeros(12, np.int64), np.full(7, -np.inf)
    numbers[LOGS], numbers[LIMITED] = log, bool(np.isfinite(fleet.pair).any())
    clocks[LOOK], clocks[LOOK_EVERY], clocks[DECIDE_EVERY] = np.inf, look_every, decide_every
    clocks[LOOKED], clocks[WAKE] = 0.0, np.inf
    largest = np.concatenate(
        [
            first + np.argsort(-jobs.size[first:last], kind="stable")
            for first, last in zip(jobs.first, jobs.first[1:], strict=False)
        ]
    )
    capacity = 4 * n * n + 1024
    return World(
        make_heap(total + 16),
        numbers,
        clocks,
        fleet.slots.copy(),
        fleet.slots.copy(),
        np.stack([fleet.up, fleet.down]),
        fleet.pair,
        jobs.job,
        jobs.tasks,
        jobs.shuffles,
        jobs.task_s,
        jobs.ratio,
        jobs.task_bytes,
        jobs.child_at,
        jobs.children,
        jobs.first,
        jobs.parents.copy(),
        np.zeros(stages, np.int64),
        np.zeros(stages, np.int64),
        np.zeros(stages, np.int64),
        np.zeros(stages, np.int64),
        np.zeros(stages, np.int64),
        np.zeros(stages),
        jobs.here.copy(),
        np.zeros((stages, n)),
        np.zeros((stages, n), np.int64),
        np.zeros((stages, n), np.int64),
        jobs.submit,
        np.full(len(jobs), np.nan),
        np.zeros(len(jobs)),
        np.bincount(jobs.job, minlength=len(jobs)).astype(np.int64),
        jobs.factor,
        jobs.size,
        np.stack([np.arange(total), largest]).astype(np.int64),
        np.full((2, total), -1, np.int64),
        np.full((3, total), np.nan),
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.full((n, n), -1, np.int64),
        np.empty((4, n)),
        np.empty((2, capacity), np.int64),
        np.empty((2, capacity)),
        np.arange(capacity, dtype=np.int64),
        np.empty((6, capacity), np.int64),
        np.arange(capacity, dtype=np.int64),
        changes.time,
        np.stack([changes.site, changes.slots]),
        np.stack([changes.up, changes.down]),
        np.empty((1024 if log else 0, 6)),
        np.empty((4 * n * n + 1024 if log else 0, 4)),
    )


def grown(world: World, flows: int, batches: int) -> World:
    """The world with room for so many more flows and batches, and for what they may log."""
    spare = len(world.free_flows) - world.numbers[FLOWS]
    if spare < flows:
        world = world._replace(**_longer(world, ("flow_ints", "flow_end"), "free_flows", flows))
    if len(world.free_batches) - world.numbers[BATCHES] < batches:
        world = world._replace(**_longer(world, ("batch",), "free_batches", batches))
    if world.numbers[LOGS]:
        for name, used in (("flow_log", LOGGED), ("rate_log", RATES)):
            table = getattr(world, name)
            if len(table) < world.numbers[used] + 8 * world.weight.size + 1024:
                more = np.empty((len(table) + 8 * world.weight.size + 1024, table.shape[1]))
                longer: dict[str, Any] = {name: np.concatenate([table, more])}
                world = world._replace(**longer)
    return world


def _longer(world: World, tables: tuple[str, ...], free: str, more: int) -> dict[str, Any]:
    old = getattr(world, free)
    more = max(more, len(old))
    found: dict[str, Any] = {free: np.concatenate([old, np.arange(len(old), len(old) + more)])}
    for name in tables:
        table = getattr(world, name)
        found[name] = np.concatenate([table, np.empty((len(table), more), table.dtype)], axis=1)
    return found


@lean
def add_flow(world, now, source, site, batch, carried, tasks):
    """A batch begins to read from a site."""
    flow = world.free_flows[world.numbers[FLOWS]]
    world.numbers[FLOWS] += 1
    # It begins at the next look, which is now where looks are exact: its pair has come further by then.
    wait = max(world.clocks[LOOKED] + world.clocks[LOOK_EVERY], now) - world.clocks[LOOKED]
    ends = world.progress[source, site] + world.rate[source, site] * wait + carried / tasks
    world.flow_ints[0, flow] = batch
    world.flow_end[0, flow], world.flow_end[1, flow] = ends, now
    world.weight[source, site] += tasks
    before, after = -1, world.head[source, site]
    while after >= 0 and world.flow_end[0, after] <= ends:
        before, after = after, world.flow_ints[1, after]
    world.flow_ints[1, flow] = after
    if before < 0:
        world.head[source, site] = flow
    else:
        world.flow_ints[1, before] = flow
    world.batch[3, batch] += 1
    world.sent[world.job[world.batch[0, batch]]] += carried
    world.carried[source, site] += carried
    world.numbers[FLOWS_NEW] = 1


@lean
def end_reading(world, now, batch):
    """A batch has all its input: its tasks compute, or, for a move, wait at the new site."""
    stage, site, tasks = world.batch[0, batch], world.batch[1, batch], world.batch[2, batch]
    world.numbers[BATCHES] -= 1
    world.free_batches[world.numbers[BATCHES]] = batch
    if world.batch[5, batch]:
        world.here[stage, site] += tasks
        world.waiting[stage] += tasks
        world.numbers[WANTED] = 1
        return
    for position in range(world.batch[4, batch], world.batch[4, batch] + tasks):
        task = world.order[world.largest[stage], position]
        world.times[1, task] = now
        seconds = world.task_s[stage] * world.factor[task] * world.size[task]
        push(world.heap, now + seconds, stage * len(world.slots) + site, task)


@lean
def end_flow(world, now, source, site, ended):
    """The first flow of a pair has come to its end, at ``ended``; what it carried is noticed ``now``."""
    flow = world.head[source, site]
    batch = world.flow_ints[0, flow]
    world.head[source, site] = world.flow_ints[1, flow]
    world.weight[source, site] -= world.batch[2, batch]
    if world.numbers[LOGS]:
        line = world.flow_log[world.numbers[LOGGED]]
        stage = world.batch[0, batch]
        line[0], line[1], line[3], line[4], line[5] = world.flow_end[1, flow], ended, source, site, stage
        # A task of a batch reads on average what its stage's tasks do, by the sizes of its own.
        line[2] = carried_by(world, stage, batch, source)
        world.numbers[LOGGED] += 1
    if world.head[source, site] < 0:
        world.weight[source, site] = 0.0
        world.progress[source, site] = 0.0
    world.numbers[FLOWS] -= 1
    world.free_flows[world.numbers[FLOWS]] = flow
    world.batch[3, batch] -= 1
    if world.batch[3, batch] == 0:
        end_reading(world, now, batch)


@lean
def carried_by(world, stage, batch, source):
    """What a batch reads from a site, bytes."""
    tasks = world.batch[2, batch]
    if not world.shuffles[stage]:
        return tasks * world.task_bytes[stage]
    sizes = 0.0
    for position in range(world.batch[4, batch], world.batch[4, batch] + tasks):
        sizes += world.size[world.order[world.largest[stage], position]]
    return world.data[stage, source] * sizes / world.tasks[stage]


@lean
def look(world, now):
    """Bring all flows up to now, end those that are done, and share the links anew."""
    n = len(world.slots)
    passed = now - world.clocks[LOOKED]
    for x in range(n):
        for y in range(n):
            if world.head[x, y] < 0:
                continue
            before = world.progress[x, y]
            reached = before + world.rate[x, y] * passed
            world.progress[x, y] = reached
            while world.head[x, y] >= 0:
                ends = world.flow_end[0, world.head[x, y]]
                if ends > reached + 1e-9 * (ends + 1.0):
                    break
                rate = world.rate[x, y]
                took = (ends - before) / rate if rate > 0.0 else 0.0
                end_flow(world, now, x, y, min(now, world.clocks[LOOKED] + max(0.0, took)))
    limited = world.numbers[LIMITED] != 0
    share_links(world.weight, world.links[0], world.links[1], world.pair, limited, world.rate, world.level)
    world.clocks[LOOKED] = now
    world.numbers[FLOWS_NEW] = 0
    soonest = np.inf
    for x in range(n):
        for y in range(n):
            if world.numbers[LOGS]:
                line = world.rate_log[world.numbers[RATES]]
                line[0], line[1], line[2], line[3] = now, x, y, world.rate[x, y] * world.weight[x, y]
                world.numbers[RATES] += 1
            if world.head[x, y] >= 0 and world.rate[x, y] > 0.0:
                left = world.flow_end[0, world.head[x, y]] - world.progress[x, y]
                soonest = min(soonest, left / world.rate[x, y])
    soonest = max(soonest, 0.0)
    at = now + soonest
    if soonest < np.inf and at <= now:
        at = np.nextafter(now, np.inf)
    world.clocks[LOOK] = max(at, now + world.clocks[LOOK_EVERY])


@lean
def make_ready(world, now, stage):
    """A stage has all that it reads."""
    world.is_ready[stage] = 1
    world.waiting[stage] = world.tasks[stage]
    world.since[stage] = now
    world.numbers[WANTED] = 1


@lean
def end_task(world, now, stage, site, task):
    """A task gives back its slot and leaves its output at the site."""
    world.free[site] += 1
    world.running[stage, site] -= 1
    world.times[2, task] = now
    world.done[stage] += 1
    world.numbers[WANTED] = 1
    read = world.task_bytes[stage]
    if world.shuffles[stage]:
        read = 0.0
        for x in range(len(world.slots)):
            read += world.data[stage, x]
        read = read * world.size[task] / world.tasks[stage]
    ended = world.done[stage] == world.tasks[stage]
    for place in range(world.child_at[stage], world.child_at[stage + 1]):
        child = world.children[place]
        world.data[child, site] += read * world.ratio[stage]
        if ended:
            world.parents_left[child] -= 1
            if world.parents_left[child] == 0:
                make_ready(world, now, child)
    if ended:
        job = world.job[stage]
        world.stages_left[job] -= 1
        if world.stages_left[job] == 0:
            world.end[job] = now
            world.numbers[ENDED] += 1
