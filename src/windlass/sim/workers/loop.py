"""The loop of small tasks on workers: completions, changes to workers, reports, benchmark tasks, arrivals.

What happens at the same instant is taken in this order; completions by worker number, changes and arrivals as
listed. A task that arrives, or loses its worker, is held; whoever is held is dispatched before anything else
happens, first come, first served, as long as a worker is up.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.dispatch.state import BENCHMARK_AT, BENCHMARK_WORK, JOINED, LEFT, LISTENS, RATE, TOLD
from windlass.jit import Kernel, inlined
from windlass.sim.events.tree import next_completion
from windlass.sim.handle import opening, storing
from windlass.sim.status import ALL_DONE, ASK, FIRST_OWN, FULL, PAUSED, REACHED
from windlass.sim.workers import events, log, low_priority, slots
from windlass.sim.workers.state import NO_CORES, NOBODY, WORKERS_RUN

#: How else :func:`_run` returned: a worker that cannot take a task was chosen; or what a policy in Python is to be
#: told.
BAD_CHOICE, TELL_COMPLETED, TELL_CHANGED = range(FIRST_OWN, FIRST_OWN + 3)

_opened = opening(WORKERS_RUN)
STORE = storing(WORKERS_RUN)


@inlined
def _next_arrival(state):
    task = state.counts[slots.TASKS_ARRIVED]
    return state.submit[task] if task < len(state.submit) else np.inf


@inlined
def _next_change(state):
    row = state.counts[slots.NEXT_CHANGE]
    return state.change_time[row] if row < len(state.change_time) else np.inf


@inlined
def _next_benchmark(state):
    time = state.floats[0, BENCHMARK_AT]
    for scheduler in range(1, len(state.floats)):
        time = min(time, state.floats[scheduler, BENCHMARK_AT])
    return time


@inlined
def _dispatch(choose, bind, python, state, node, now):
    """Send a node to the worker that its scheduler chooses; PAUSED, or why it could not be sent."""
    counts = state.counts
    if python:
        chosen = counts[slots.ANSWER]
        if chosen == NOBODY:
            events.hold_first(state, node)
            return ASK
        counts[slots.ANSWER] = NOBODY
    else:
        task = node // counts[slots.COPIES] if counts[slots.BINDS_LATE] != 0 else node
        sender = low_priority.sender_of(state, task)
        chosen = choose(state.seen, state.ints[sender], state.floats[sender])
    if chosen < 0 or chosen >= len(state.length) or state.line[chosen].down != 0:
        counts[slots.SUBJECT] = chosen
        return BAD_CHOICE
    low_priority.place(state, bind, chosen, node, now)
    return PAUSED


@inlined
def _tell_others(completed, state, worker, sender, work, seconds):
    """Tell all schedulers but the one that sent the task of its completion."""
    for scheduler in range(len(state.ints)):
        if scheduler != sender:
            completed(worker, work, seconds, 0, state.ints[scheduler], state.floats[scheduler])


@inlined
def _complete(completed, bind, python, state, now):
    """Take in the completion that is due, and tell schedulers; PAUSED, or how the loop is to return."""
    worker, sender, own, work, seconds = events.finish(state, bind, now)
    if python:
        state.counts[slots.SUBJECT] = worker
        state.clock[slots.WORK], state.clock[slots.SECONDS] = work, seconds
        return TELL_COMPLETED
    if state.ints[0, LISTENS] != 0:
        completed(worker, work, seconds, own, state.ints[sender], state.floats[sender])
        if len(state.ints) > 1:
            if state.clock[slots.DELAY] > 0.0:
                log.note_completion(state, worker, sender, work, seconds, now)
            else:
                _tell_others(completed, state, worker, sender, work, seconds)
    return ALL_DONE if state.counts[slots.TASKS_DONE] == len(state.submit) else PAUSED


@inlined
def _tell_change(changed, state, told, worker, value):
    """Tell all schedulers what became of a worker."""
    for scheduler in range(len(state.ints)):
        changed(told, worker, value, state.ints[scheduler], state.floats[scheduler])


@inlined
def _change(changed, python, state, now):
    """Carry out the next change of a worker, and tell schedulers; PAUSED, or that Python is to be told."""
    told, worker, value = events.change(state, now)
    if told == NOBODY:
        return PAUSED
    if python:
        state.counts[slots.EVENT], state.counts[slots.SUBJECT] = told, worker
        return TELL_CHANGED
    _tell_change(changed, state, told, worker, value)
    return PAUSED


@inlined
def _see(completed, state):
    """Let schedulers see what the log says next."""
    slot = log.take_entry(state)
    worker, sender = state.log_item[slot, 0], state.log_item[slot, 2]
    if sender == NOBODY:
        state.seen[worker] = state.log_item[slot, 1]
    else:
        _tell_others(completed, state, worker, sender, state.log_value[slot, 0], state.log_value[slot, 1])


@inlined
def _send_benchmarks(benchmark, state, now):
    """Send the benchmark tasks that are due."""
    for scheduler in range(len(state.ints)):
        if state.floats[scheduler, BENCHMARK_AT] <= now:
            worker = benchmark(now, state.ints[scheduler], state.floats[scheduler])
            work = state.floats[scheduler, BENCHMARK_WORK]
            if state.counts[slots.SIZES_HIDDEN] != 0:
                # Only its own size is like that of recent tasks when nobody knows their sizes.
                work = state.work[state.counts[slots.LAST_TASK]]
            if worker >= 0 and work > 0.0:
                low_priority.place_low(state, worker, work, scheduler, now)


def _run(address, until, steps):
    """Go through what happens before `until`, so many steps at most, and through completions at `until`; a status."""
    run = _opened(address)
    state = run.state
    counts, clock = state.counts, state.clock
    delayed, python = clock[slots.DELAY] > 0.0, counts[slots.ASKS_PYTHON] != 0
    now = clock[slots.NOW]
    arrival, change = _next_arrival(state), _next_change(state)
    report, due = log.next_seen(state), _next_benchmark(state)
    other = min(change, report, due, until)
    # Only then can a report or benchmark task become due earlier than it was at the last event.
    watch = delayed or due < np.inf
    if counts[slots.TASKS_DONE] == len(state.submit):
        return ALL_DONE
    node = NOBODY
    for _ in range(steps):
        if node == NOBODY and counts[slots.WORKERS_UP] > 0:
            node = events.unhold(state)
        if node != NOBODY:
            status = _dispatch(run.choose, run.bind, python, state, node, now)
            if status != PAUSED:
                return status
            node = NOBODY
            if counts[slots.WAIT_HEAD] != NOBODY:
                continue
        if watch:
            if delayed and log.is_full(state):
                return FULL
            report, due = log.next_seen(state), _next_benchmark(state)
            other = min(change, report, due, until)
        completion = next_completion(state.tree)
        if completion <= min(other, arrival):
            if completion == np.inf:
                return REACHED
            now = clock[slots.NOW] = completion
            status = _complete(run.completed, run.bind, python, state, now)
            if status != PAUSED:
                return status
        elif arrival < other:
            now = clock[slots.NOW] = arrival
            node = events.arrive(state, now)
            arrival = _next_arrival(state)
        elif other == until:
            return REACHED
        else:
            now = clock[slots.NOW] = other
            if change == now:
                status = _change(run.changed, python, state, now)
                if status != PAUSED:
                    return status
                change = _next_change(state)
            elif report == now:
                _see(run.completed, state)
            else:
                _send_benchmarks(run.benchmark, state, now)
            report, due = log.next_seen(state), _next_benchmark(state)
            other = min(change, report, due, until)
    if node != NOBODY:
        events.hold_first(state, node)
    return ALL_DONE if counts[slots.TASKS_DONE] == len(state.submit) else PAUSED


@inlined
def _settle_worker(state, nodes, worker, row, now):
    """Give a worker the speed that its node leaves it; what schedulers are to be told, or NOBODY."""
    if nodes.capacity[row] == 0:
        return LEFT if events.fail(state, worker, NO_CORES, now) else NOBODY
    share = max(state.clock[slots.FLOOR], max(nodes.idle[row], 0) / nodes.whole[row])
    if events.come_back(state, worker, NO_CORES):
        # Its speed is settled in another call: of that schedulers are told too.
        state.counts[slots.SETTLED] -= 1
        return JOINED
    if share == state.share[worker]:
        return NOBODY
    state.share[worker] = share
    events.set_speed(state, worker, state.base[worker] * share, now)
    return RATE if state.ints[0, TOLD] != 0 else NOBODY


def _settle(address, now):
    """Take in that rows of workers changed; a status code: call again unless it is REACHED."""
    run = _opened(address)
    state, nodes, counts = run.state, run.nodes, run.state.counts
    while counts[slots.SETTLED] < nodes.counts[0].taken:
        if state.clock[slots.DELAY] > 0.0 and log.is_full(state):
            return FULL
        row = nodes.taken[counts[slots.SETTLED]]
        counts[slots.SETTLED] += 1
        worker = run.worker_of[row]
        told = NOBODY if worker == NOBODY else _settle_worker(state, nodes, worker, row, now)
        if worker != NOBODY:
            state.clock[slots.NOW] = now
        if told == NOBODY:
            continue
        if counts[slots.ASKS_PYTHON] != 0:
            counts[slots.EVENT], counts[slots.SUBJECT] = told, worker
            return TELL_CHANGED
        _tell_change(run.changed, state, told, worker, np.float64(state.line[worker].speed))
    counts[slots.SETTLED] = 0
    return REACHED


RUN = Kernel(_run, types.int64(types.int64, types.float64, types.int64), allocates=False)
SETTLE = Kernel(_settle, types.int64(types.int64, types.float64), allocates=False)
KERNELS = (STORE, RUN, SETTLE)
