"""What can happen in the dispatch world, one function each; the loop says when."""

from __future__ import annotations

import numpy as np

from windlass.compiled import index, inlined
from windlass.dispatch import state as policy
from windlass.dispatch.state import arrived
from windlass.model.timetable import FAIL, LOOK, RETURN, SET_SPEED
from windlass.sim.events.tree import next_worker, schedule
from windlass.sim.workers import lane
from windlass.sim.workers import state as at
from windlass.sim.workers.state import NOBODY

#: Of whom a completion is, as ``completed`` is told; 0 for another scheduler's.
_OWN, _OWN_BENCHMARK = 1, 2


@inlined
def sender_of(world, task):
    return world.sender[task] if len(world.ints) > 1 else 0


@inlined
def arrive(world, now):
    """Take in the next task: itself if it can be dispatched at once, else NOBODY, and it is held."""
    task = world.tally[at.ARRIVED]
    world.tally[at.ARRIVED] += 1
    sender = sender_of(world, task)
    arrived(now, world.ints[sender], world.floats[sender])
    node = NOBODY
    if world.tally[at.LATE] != 0:
        for copy in range(world.tally[at.COPIES]):
            lane.hold(world, task * world.tally[at.COPIES] + copy)
    elif world.tally[at.UP] == 0:
        lane.hold(world, task)
    else:
        node = task
    return node


@inlined
def unhold(world):
    """Take the first of those that wait to be dispatched, or NOBODY."""
    node = world.tally[at.WAIT_HEAD]
    if node != NOBODY:
        world.tally[at.WAIT_HEAD] = world.after[node]
    return node


@inlined
def hold_first(world, node):
    """Put a node back, before all that wait to be dispatched."""
    world.after[node] = world.tally[at.WAIT_HEAD]
    if world.tally[at.WAIT_HEAD] == NOBODY:
        world.tally[at.WAIT_TAIL] = node
    world.tally[at.WAIT_HEAD] = node


@inlined
def finish(world, now):
    """Take in the completion that is due, start what is next; worker, scheduler, whose, work, busy time."""
    worker = next_worker(world.tree)
    line = world.line[index(worker)]
    node = np.int64(line.running)
    seconds = now - line.started
    world.length[index(worker)] -= 1
    first_low = at.real_nodes(world)
    if node >= first_low:
        sender = world.low_sender[node - first_low]
        work = 1.0 if world.tally[at.HIDDEN] != 0 else world.low_work[node - first_low]
        own = _OWN_BENCHMARK
        world.tally[at.BENCHMARKS] += 1
        lane.free_low(world, node)
    else:
        task = at.task_of(world, node)
        world.end[index(task)] = now
        world.tally[at.DONE] += 1
        world.tally[at.LAST_TASK] = task
        sender = sender_of(world, task)
        work = 1.0 if world.tally[at.HIDDEN] != 0 else world.work[index(task)]
        own = _OWN
    lane.begin_next(world, worker, now)
    at.note_length(world, worker, now)
    return worker, sender, own, work, seconds


@inlined
def report(world, worker, sender, work, seconds, now):
    slot = (world.tally[at.LOG_FIRST] + world.tally[at.LOG_SIZE]) % len(world.log_time)
    world.log_time[slot] = now + world.clock[at.DELAY]
    world.log_item[slot, 0] = worker
    world.log_item[slot, 2] = sender
    world.log_value[slot, 0] = work
    world.log_value[slot, 1] = seconds
    world.tally[at.LOG_SIZE] += 1


@inlined
def fail(world, worker, now):
    """Take a worker down: its real tasks are held for dispatch, the one in hand first; benchmark tasks are dropped."""
    line = world.line[worker]
    line.down = 1
    world.tally[at.UP] -= 1
    node = np.int64(line.running)
    following = np.int64(line.head)
    if node == NOBODY:
        node = following
    elif node >= at.real_nodes(world):
        lane.free_low(world, node)
        world.tally[at.DROPPED] += 1
        node = following
    else:
        world.after[node] = following
    while node != NOBODY:
        following = world.after[node]
        lane.hold(world, node)
        world.tally[at.MOVED] += 1
        node = following
    node = np.int64(line.low_head)
    while node != NOBODY:
        following = world.after[node]
        lane.free_low(world, node)
        world.tally[at.DROPPED] += 1
        node = following
    line.running = line.head = line.low_head = NOBODY
    line.first = np.inf
    world.low_count[worker] = 0
    world.length[worker] = 0
    schedule(world.tree, worker, np.inf)
    at.note_length(world, worker, now)


@inlined
def set_speed(world, worker, speed, now):
    line = world.line[worker]
    if line.running != NOBODY:
        done = (now - line.since) * line.speed
        left = max(0.0, line.left - done)
        line.left = left
        line.since = now
        schedule(world.tree, worker, now + left / speed if left > 0.0 else now)
    line.speed = speed
    lane.expect(world, worker, np.int64(line.head))


@inlined
def look(world):
    sample = world.tally[at.SAMPLE]
    world.tally[at.SAMPLE] += 1
    for worker in range(len(world.length)):
        world.longest[sample] = max(world.longest[sample], world.length[worker])
        world.waiting[sample] += world.length[worker]
    for worker in range(world.estimates.shape[1]):
        world.estimates[sample, worker] = world.floats[0, world.ints[0, policy.RATES_AT] + worker]


@inlined
def change(world, now):
    """Carry out the next change of a worker; what schedulers are to be told of it, or NOBODY."""
    row = world.tally[at.CHANGE]
    world.tally[at.CHANGE] += 1
    kind, worker = world.change_kind[row], world.change_worker[row]
    down = world.line[worker].down != 0
    told = NOBODY
    if kind == SET_SPEED:
        set_speed(world, worker, world.change_value[row], now)
        if world.ints[0, policy.TOLD] != 0:
            told = policy.RATE
    elif kind == LOOK:
        look(world)
    elif kind == FAIL and not down:
        fail(world, worker, now)
        told = policy.LEFT
    elif kind == RETURN and down:
        world.line[worker].down = 0
        world.tally[at.UP] += 1
        told = policy.JOINED
    return told, worker, world.change_value[row]
