"""Events of tasks and workers, one function each; the loop calls them in the order of time."""

from __future__ import annotations

import numpy as np

from windlass.dispatch.state import JOINED, LEFT, RATE, RATES_AT, TRUE_RATES, arrived
from windlass.jit import index, inlined
from windlass.model.timetable import FAIL, RETURN, SET_SPEED, TAKE_SAMPLE
from windlass.sim.events.tree import next_worker, schedule
from windlass.sim.workers import low_priority, spill
from windlass.sim.workers.log import note_length
from windlass.sim.workers.starting import sender_of
from windlass.sim.workers.state import FAILED, NONE, REFUSED_END, real_nodes, task_of

#: Argument ``own`` of a policy's ``completed``, for the scheduler that sent the task; 0 for the other schedulers.
_OWN, _OWN_BENCHMARK = 1, 2
#: Bound on the rounding error of times, s for each second on the clock.
_ROUNDING = 8.0 * np.finfo(np.float64).eps


@inlined
def arrive(state, now):
    """Let the next task arrive; return it if it can be dispatched at once, else hold or refuse it and return NONE."""
    settings, progress = state.settings[0], state.progress[0]
    if settings.spills != 0:
        spill.take_arrival(state)
    task = progress.arrived
    progress.arrived += 1
    sender = sender_of(state, task)
    arrived(now, state.ints[sender], state.floats[sender])
    node = NONE
    if settings.waits != 0:
        node = _arrive_late(state, sender, task, now)
    elif progress.workers_up == 0:
        low_priority.hold(state, task)
    else:
        node = task
    return node


@inlined
def _arrive_late(state, sender, task, now):
    """Let a task arrive that waits until a worker takes it, or refuse it; return it if it can be offered, else NONE."""
    settings = state.settings[0]
    node = NONE
    if settings.refusing_at != NONE and state.ints[sender, settings.refusing_at] != 0:
        # All tasks of a job arrive at this instant, so that a job with reservations is refused as a whole.
        refuse(state, task, now)
    elif settings.late_binding != 0:
        for copy in range(settings.copies):
            low_priority.hold(state, task * settings.copies + copy)
    elif state.progress[0].workers_up == 0:
        low_priority.hold(state, task)
    else:
        node = task
    return node


@inlined
def refuse(state, task, now):
    """Refuse a task: it ends here without a run, and no policy learns from it."""
    progress = state.progress[0]
    state.end[task] = REFUSED_END
    if state.settings[0].record != 0:
        # It may have run before its worker failed.
        state.worker[task] = NONE
    progress.refused += 1
    # A task that goes to another part is complete here once it has been delivered.
    if state.settings[0].spills == 0 or not spill.send_on(state, task, now):
        progress.completed += 1


@inlined
def take_held(state):
    """Remove and return the first node held for dispatch, or NONE."""
    progress = state.progress[0]
    node = progress.held_head
    if node != NONE:
        progress.held_head = state.after[node]
    return node


@inlined
def hold_first(state, node):
    """Hold a node for dispatch before all others."""
    progress = state.progress[0]
    state.after[node] = progress.held_head
    if progress.held_head == NONE:
        progress.held_tail = node
    progress.held_head = node


@inlined
def finish(state, bind, now):
    """Complete the node that is due and start the worker's next one.

    Returns
    -------
    tuple
        The worker, the scheduler that sent the task, ``own`` of the policy's ``completed``, work, and duration, s.
    """
    settings, progress = state.settings[0], state.progress[0]
    worker = next_worker(state.tree)
    line = state.line[index(worker)]
    node = np.int64(line.running)
    seconds = now - line.started
    state.length[index(worker)] -= 1
    first_low = real_nodes(state)
    if node >= first_low:
        sender = state.low_sender[node - first_low]
        work = 1.0 if settings.sizes_hidden != 0 else state.low_work[node - first_low]
        own = _OWN_BENCHMARK
        progress.benchmarks += 1
        low_priority.free_low(state, node)
    else:
        task = task_of(state, node)
        state.end[index(task)] = now
        progress.completed += 1
        progress.last_task = task
        sender = sender_of(state, task)
        work = 1.0 if settings.sizes_hidden != 0 else state.work[index(task)]
        own = _OWN
    low_priority.begin_next(state, bind, worker, now)
    note_length(state, worker, now)
    return worker, sender, own, work, seconds


@inlined
def fail(state, worker, why, now):
    """Take a worker down for a reason, and return whether it was up.

    Its real tasks are held for dispatch, the running one first; its benchmark tasks are dropped.
    """
    progress = state.progress[0]
    line = state.line[worker]
    was_up = line.down == 0
    line.down |= why
    if not was_up:
        return False
    progress.workers_up -= 1
    node = np.int64(line.running)
    progress.idle -= node == NONE
    following = np.int64(line.head)
    if node == NONE:
        node = following
    elif node >= real_nodes(state):
        low_priority.free_low(state, node)
        progress.dropped += 1
        node = following
    else:
        if state.settings[0].record != 0:
            state.start[task_of(state, node)] = np.nan
        state.after[node] = following
    while node != NONE:
        following = state.after[node]
        low_priority.hold(state, node)
        progress.moved += 1
        node = following
    node = np.int64(line.low_head)
    while node != NONE:
        following = state.after[node]
        low_priority.free_low(state, node)
        progress.dropped += 1
        node = following
    line.running = line.head = line.low_head = NONE
    line.first_seconds = np.inf
    state.low_count[worker] = 0
    state.length[worker] = 0
    schedule(state.tree, worker, np.inf)
    note_length(state, worker, now)
    return True


@inlined
def set_speed(state, worker, speed, now):
    """Change a worker's speed from now on, also for the running task; a speed of 0 stalls it."""
    line = state.line[worker]
    if line.running != NONE:
        # A task that is being fetched has not begun.
        begun = max(now, line.since)
        done = (begun - line.since) * line.speed
        work_left = max(0.0, line.work_left - done)
        # Work left by rounding alone would otherwise stall at speed 0.
        if work_left < _ROUNDING * (now + 1.0) * line.speed:
            work_left = 0.0
        line.work_left = work_left
        line.since = begun
        schedule(state.tree, worker, begun + work_left / speed if work_left > 0.0 else begun)
    line.speed = speed
    low_priority.expect(state, worker, np.int64(line.head))


@inlined
def come_back(state, worker, why):
    """Remove a reason for which a worker is down, and return whether that brings it up."""
    line = state.line[worker]
    was_down = line.down != 0
    line.down &= ~why
    if was_down and line.down == 0:
        state.progress[0].workers_up += 1
        state.progress[0].idle += 1
    return was_down and line.down == 0


@inlined
def take_sample(state):
    """Store the current queue lengths, and the rates that the first scheduler estimates."""
    progress = state.progress[0]
    sample = progress.next_sample
    progress.next_sample += 1
    for worker in range(len(state.length)):
        state.longest[sample] = max(state.longest[sample], state.length[worker])
        state.waiting[sample] += state.length[worker]
    state.waiting[sample] += progress.unbound
    for worker in range(state.estimates.shape[1]):
        state.estimates[sample, worker] = state.floats[0, state.ints[0, RATES_AT] + worker]


@inlined
def change(state, now):
    """Carry out the next row of the timetable.

    Returns
    -------
    tuple
        The event to notify schedulers of, or NONE; the worker; and its speed, work/s.
    """
    progress = state.progress[0]
    row = progress.next_change
    progress.next_change += 1
    kind, worker = state.change_kind[row], state.change_worker[row]
    event = NONE
    if kind == SET_SPEED:
        state.base[worker] = state.change_value[row]
        set_speed(state, worker, state.base[worker] * state.share[worker], now)
        if state.ints[0, TRUE_RATES] != 0:
            event = RATE
    elif kind == TAKE_SAMPLE:
        take_sample(state)
    elif kind == FAIL and fail(state, worker, FAILED, now):
        event = LEFT
    elif kind == RETURN and come_back(state, worker, FAILED):
        event = JOINED
    return event, worker, np.float64(state.line[worker].speed)
