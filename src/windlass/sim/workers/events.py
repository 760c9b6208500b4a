"""What can happen to tasks and workers, one function each; the loop says when."""

from __future__ import annotations

import numpy as np

from windlass.dispatch.state import JOINED, LEFT, RATE, RATES_AT, TOLD, arrived
from windlass.jit import index, inlined
from windlass.model.timetable import FAIL, RETURN, SET_SPEED, TAKE_SAMPLE
from windlass.sim.events.tree import next_worker, schedule
from windlass.sim.workers import low_priority, slots
from windlass.sim.workers.log import note_length
from windlass.sim.workers.state import FAILED, NOBODY, real_nodes, task_of

#: Of whom a completion is, as ``completed`` is told; 0 for another scheduler's.
_OWN, _OWN_BENCHMARK = 1, 2
#: Seconds by which rounding may be off, for each second on the clock.
_ROUNDING = 8.0 * np.finfo(np.float64).eps


@inlined
def arrive(state, now):
    """Take in the next task: itself if it can be dispatched at once, else NOBODY, and it is held."""
    task = state.counts[slots.TASKS_ARRIVED]
    state.counts[slots.TASKS_ARRIVED] += 1
    sender = low_priority.sender_of(state, task)
    arrived(now, state.ints[sender], state.floats[sender])
    node = NOBODY
    if state.counts[slots.BINDS_LATE] != 0:
        state.unbound[sender] += 1
        for copy in range(state.counts[slots.COPIES]):
            low_priority.hold(state, task * state.counts[slots.COPIES] + copy)
    elif state.counts[slots.WORKERS_UP] == 0:
        low_priority.hold(state, task)
    else:
        node = task
    return node


@inlined
def unhold(state):
    """Take the first of those that wait to be dispatched, or NOBODY."""
    node = state.counts[slots.WAIT_HEAD]
    if node != NOBODY:
        state.counts[slots.WAIT_HEAD] = state.after[node]
    return node


@inlined
def hold_first(state, node):
    """Put a node back, before all that wait to be dispatched."""
    state.after[node] = state.counts[slots.WAIT_HEAD]
    if state.counts[slots.WAIT_HEAD] == NOBODY:
        state.counts[slots.WAIT_TAIL] = node
    state.counts[slots.WAIT_HEAD] = node


@inlined
def finish(state, bind, now):
    """Take in the completion that is due, start what is next; worker, scheduler, whose, work, busy time."""
    worker = next_worker(state.tree)
    line = state.line[index(worker)]
    node = np.int64(line.running)
    seconds = now - line.started
    state.length[index(worker)] -= 1
    first_low = real_nodes(state)
    if node >= first_low:
        sender = state.low_sender[node - first_low]
        work = 1.0 if state.counts[slots.SIZES_HIDDEN] != 0 else state.low_work[node - first_low]
        own = _OWN_BENCHMARK
        state.counts[slots.BENCHMARKS] += 1
        low_priority.free_low(state, node)
    else:
        task = task_of(state, node)
        state.end[index(task)] = now
        state.counts[slots.TASKS_DONE] += 1
        state.counts[slots.LAST_TASK] = task
        sender = low_priority.sender_of(state, task)
        work = 1.0 if state.counts[slots.SIZES_HIDDEN] != 0 else state.work[index(task)]
        own = _OWN
    low_priority.begin_next(state, bind, worker, now)
    note_length(state, worker, now)
    return worker, sender, own, work, seconds


@inlined
def fail(state, worker, why, now):
    """Take a worker down; whether it was up until now.

    Its real tasks are held for dispatch, the one in hand first; benchmark tasks are dropped.
    """
    line = state.line[worker]
    was_up = line.down == 0
    line.down |= why
    if not was_up:
        return False
    state.counts[slots.WORKERS_UP] -= 1
    node = np.int64(line.running)
    following = np.int64(line.head)
    if node == NOBODY:
        node = following
    elif node >= real_nodes(state):
        low_priority.free_low(state, node)
        state.counts[slots.DROPPED] += 1
        node = following
    else:
        state.after[node] = following
    while node != NOBODY:
        following = state.after[node]
        low_priority.hold(state, node)
        state.counts[slots.MOVED] += 1
        node = following
    node = np.int64(line.low_head)
    while node != NOBODY:
        following = state.after[node]
        low_priority.free_low(state, node)
        state.counts[slots.DROPPED] += 1
        node = following
    line.running = line.head = line.low_head = NOBODY
    line.first_seconds = np.inf
    state.low_count[worker] = 0
    state.length[worker] = 0
    schedule(state.tree, worker, np.inf)
    note_length(state, worker, now)
    return True


@inlined
def set_speed(state, worker, speed, now):
    """Change how fast a worker works from now on, on the node in hand too; a speed of 0 stalls it."""
    line = state.line[worker]
    if line.running != NOBODY:
        done = (now - line.since) * line.speed
        work_left = max(0.0, line.work_left - done)
        # What is left by rounding alone must not stand still, and wait, where the speed falls to 0.
        if work_left < _ROUNDING * (now + 1.0) * line.speed:
            work_left = 0.0
        line.work_left = work_left
        line.since = now
        schedule(state.tree, worker, now + work_left / speed if work_left > 0.0 else now)
    line.speed = speed
    low_priority.expect(state, worker, np.int64(line.head))


@inlined
def come_back(state, worker, why):
    """Let a worker be down for one reason less; whether it takes tasks again."""
    line = state.line[worker]
    was_down = line.down != 0
    line.down &= ~why
    if was_down and line.down == 0:
        state.counts[slots.WORKERS_UP] += 1
    return was_down and line.down == 0


@inlined
def take_sample(state):
    """Keep how long queues are now, and what the first scheduler believes."""
    sample = state.counts[slots.NEXT_SAMPLE]
    state.counts[slots.NEXT_SAMPLE] += 1
    for worker in range(len(state.length)):
        state.longest[sample] = max(state.longest[sample], state.length[worker])
        state.waiting[sample] += state.length[worker]
    for worker in range(state.estimates.shape[1]):
        state.estimates[sample, worker] = state.floats[0, state.ints[0, RATES_AT] + worker]


@inlined
def change(state, now):
    """Carry out the next change of a worker; what schedulers are to be told of it, or NOBODY."""
    row = state.counts[slots.NEXT_CHANGE]
    state.counts[slots.NEXT_CHANGE] += 1
    kind, worker = state.change_kind[row], state.change_worker[row]
    told = NOBODY
    if kind == SET_SPEED:
        state.base[worker] = state.change_value[row]
        set_speed(state, worker, state.base[worker] * state.share[worker], now)
        if state.ints[0, TOLD] != 0:
            told = RATE
    elif kind == TAKE_SAMPLE:
        take_sample(state)
    elif kind == FAIL and fail(state, worker, FAILED, now):
        told = LEFT
    elif kind == RETURN and come_back(state, worker, FAILED):
        told = JOINED
    return told, worker, np.float64(state.line[worker].speed)
