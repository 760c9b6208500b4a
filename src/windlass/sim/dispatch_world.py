"""The parts of the dispatch world: tasks, workers with two lanes each, and what schedulers see.

A *node* stands in a queue. With a policy that binds at once, node i is task i. With late binding, nodes are the
reservations of tasks, ``copies`` for each, and a node takes the next task of its job when its turn comes. Benchmark
tasks have nodes of their own, behind the others. Queues are linked through ``after``, so that none has a capacity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.compiled import inlined
from windlass.sim.dispatch_tree import TREE, Tree, schedule

NOBODY = -1
#: Where a time would be, for a task that is not there; infinity is the time of one that stands still.
NEVER = -1.0

# Columns of ``line``, per worker.
HEAD, TAIL, RUNNING, LOW_HEAD, LOW_TAIL, LOW_COUNT, DOWN = range(7)
# Columns of ``pace``, per worker: work/s, work left and the time it was left at, when the task in hand began.
SPEED, LEFT, SINCE, STARTED = range(4)
# Places in ``tally``.
ARRIVED, DONE, UP, LONGEST, BENCHMARKS, DROPPED, MOVED, CHANGE, SAMPLE, POOL = range(10)
WAIT_HEAD, WAIT_TAIL, LOG_FIRST, LOG_SIZE, LAST_TASK = range(10, 15)
LATE, COPIES, LANE, RECORD, HIDDEN, PYTHON, ANSWER, SUBJECT, EVENT, COUNTS = range(15, 25)
# Places in ``clock``.
NOW, DELAY, WORK, SECONDS, CLOCKS = range(5)
#: Kinds of ``change_kind``.
SET_SPEED, FAIL, RETURN, LOOK = range(4)


class World(NamedTuple):
    """State of the world, as arrays; n workers, t tasks, k schedulers.

    ``tree``: completions. ``clock``, ``tally``: numbers by place. ``line``, ``pace`` (n, …): workers. ``length``
    (n,): tasks at each, waiting and running; ``seen``: the same as schedulers see it, the very array where probes
    take no time. ``after``: next node in a queue. ``submit``, ``work``, ``end``, ``start``, ``worker``, ``sender``
    (t,): tasks. ``job``, ``next_task``, ``last_task``: for late binding. ``bound``: task of a node with late
    binding. ``low_work``, ``low_sender``: benchmark tasks. ``change_*``: what happens to workers and when.
    ``log_*``: what schedulers will see once the probe delay has passed. ``ints``, ``floats`` (k, …): the policy's.
    ``longest``, ``waiting``, ``estimates``: samples.
    """

    tree: Tree
    clock: NDArray[np.float64]
    tally: NDArray[np.int64]
    line: NDArray[np.int32]
    pace: NDArray[np.float64]
    length: NDArray[np.int64]
    seen: NDArray[np.int64]
    after: NDArray[np.int64]
    submit: NDArray[np.float64]
    work: NDArray[np.float64]
    end: NDArray[np.float64]
    start: NDArray[np.float64]
    worker: NDArray[np.int64]
    sender: NDArray[np.int64]
    job: NDArray[np.int64]
    next_task: NDArray[np.int64]
    last_task: NDArray[np.int64]
    bound: NDArray[np.int64]
    low_work: NDArray[np.float64]
    low_sender: NDArray[np.int64]
    change_time: NDArray[np.float64]
    change_kind: NDArray[np.int64]
    change_worker: NDArray[np.int64]
    change_value: NDArray[np.float64]
    log_time: NDArray[np.float64]
    log_item: NDArray[np.int64]
    log_value: NDArray[np.float64]
    ints: NDArray[np.int64]
    floats: NDArray[np.float64]
    longest: NDArray[np.int64]
    waiting: NDArray[np.int64]
    estimates: NDArray[np.float64]


_I, _F, _I2, _F2 = types.int64[::1], types.float64[::1], types.int64[:, ::1], types.float64[:, ::1]
_TYPES = {
    "tree": TREE,
    "line": types.int32[:, ::1],
    **dict.fromkeys(
        ("clock", "submit", "work", "end", "start", "low_work", "change_time", "change_value"), _F
    ),
    **dict.fromkeys(("pace", "log_value", "floats", "estimates"), _F2),
    **dict.fromkeys(("log_item", "ints"), _I2),
    "log_time": _F,
}
WORLD = types.NamedTuple([_TYPES.get(field, _I) for field in World._fields], World)


@inlined
def real_nodes(world):  # type: ignore[no-untyped-def]
    """Nodes from this one on are benchmark tasks."""
    return len(world.after) - len(world.low_work)


@inlined
def task_of(world, node):  # type: ignore[no-untyped-def]
    """The task that a node stands for; with late binding, the one it took."""
    return world.bound[node] if world.tally[LATE] != 0 else node


@inlined
def note_length(world, worker, now):  # type: ignore[no-untyped-def]
    """Let schedulers see a worker's queue length, once the probe delay has passed."""
    if world.clock[DELAY] > 0.0:
        slot = (world.tally[LOG_FIRST] + world.tally[LOG_SIZE]) % len(world.log_time)
        world.log_time[slot] = now + world.clock[DELAY]
        world.log_item[slot, 0] = worker
        world.log_item[slot, 1] = world.length[worker]
        world.log_item[slot, 2] = NOBODY
        world.tally[LOG_SIZE] += 1


@inlined
def begin(world, worker, node, work, now):  # type: ignore[no-untyped-def]
    """Take a node in hand now; when it will end."""
    world.line[worker, RUNNING] = node
    world.pace[worker, LEFT] = work
    world.pace[worker, SINCE] = now
    world.pace[worker, STARTED] = now
    return now + work / world.pace[worker, SPEED]


@inlined
def begin_real(world, worker, node, now):  # type: ignore[no-untyped-def]
    """Take a node of a real task in hand now; when it will end, or NEVER where its job has no task left to take."""
    task = node
    if world.tally[LATE] != 0:
        task = world.bound[node]
        if task == NOBODY:
            job = world.job[node // world.tally[COPIES]]
            if world.next_task[job] == world.last_task[job]:
                return NEVER
            task = world.next_task[job]
            world.next_task[job] = task + 1
            world.bound[node] = task
    if world.tally[RECORD] != 0:
        world.start[task] = now
        world.worker[task] = worker
    return begin(world, worker, node, world.work[task], now)


@inlined
def begin_next(world, worker, now):  # type: ignore[no-untyped-def]
    """Run what is next at a worker that has nothing in hand: a real task, else a benchmark task, else nothing."""
    world.line[worker, RUNNING] = NOBODY
    end = NEVER
    while end == NEVER and world.line[worker, HEAD] != NOBODY:
        node = np.int64(world.line[worker, HEAD])
        world.line[worker, HEAD] = world.after[node]
        end = begin_real(world, worker, node, now)
        if end == NEVER:
            world.length[worker] -= 1
    low = np.int64(world.line[worker, LOW_HEAD])
    if end == NEVER and low != NOBODY:
        world.line[worker, LOW_HEAD] = world.after[low]
        world.line[worker, LOW_COUNT] -= 1
        world.length[worker] += 1
        end = begin(world, worker, low, world.low_work[low - real_nodes(world)], now)
    schedule(world.tree, worker, end if end != NEVER else np.inf)


@inlined
def place(world, worker, node, now):  # type: ignore[no-untyped-def]
    """Put a node of a real task at a worker: in hand if it is idle, else at the end of the queue."""
    queued = True
    if world.line[worker, RUNNING] == NOBODY:
        end = begin_real(world, worker, node, now)
        queued = end != NEVER
        if queued:
            schedule(world.tree, worker, end)
    else:
        world.after[node] = NOBODY
        if world.line[worker, HEAD] == NOBODY:
            world.line[worker, HEAD] = node
        else:
            world.after[world.line[worker, TAIL]] = node
        world.line[worker, TAIL] = node
    if queued:
        world.length[worker] += 1
        if world.length[worker] > world.tally[LONGEST]:
            world.tally[LONGEST] = world.length[worker]
        note_length(world, worker, now)


@inlined
def hold(world, node):  # type: ignore[no-untyped-def]
    """Put a node at the end of those that wait to be dispatched."""
    world.after[node] = NOBODY
    if world.tally[WAIT_HEAD] == NOBODY:
        world.tally[WAIT_HEAD] = node
    else:
        world.after[world.tally[WAIT_TAIL]] = node
    world.tally[WAIT_TAIL] = node


@inlined
def place_low(world, worker, work, sender, now):  # type: ignore[no-untyped-def]
    """Put a benchmark task in a worker's low lane; it is dropped if the lane is full or the worker is down."""
    node = world.tally[POOL]
    if world.line[worker, DOWN] != 0 or world.line[worker, LOW_COUNT] >= world.tally[LANE]:
        world.tally[DROPPED] += 1
        return
    world.tally[POOL] = world.after[node]
    world.low_work[node - real_nodes(world)] = work
    world.low_sender[node - real_nodes(world)] = sender
    if world.line[worker, RUNNING] == NOBODY:
        world.length[worker] += 1
        schedule(world.tree, worker, begin(world, worker, node, work, now))
        note_length(world, worker, now)
        return
    world.after[node] = NOBODY
    if world.line[worker, LOW_HEAD] == NOBODY:
        world.line[worker, LOW_HEAD] = node
    else:
        world.after[world.line[worker, LOW_TAIL]] = node
    world.line[worker, LOW_TAIL] = node
    world.line[worker, LOW_COUNT] += 1


@inlined
def free_low(world, node):  # type: ignore[no-untyped-def]
    """Give back a benchmark task's node."""
    world.after[node] = world.tally[POOL]
    world.tally[POOL] = node
