"""The dispatch world's loop: completions, changes to workers, reports, benchmark tasks, arrivals.

What happens at the same instant is taken in this order; completions by worker number, changes and arrivals as
listed. A task that arrives, or loses its worker, is held; whoever is held is dispatched before anything else
happens, first come, first served, as long as a worker is up.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.compiled import Kernel, inlined
from windlass.dispatch import state as policy
from windlass.dispatch.compiled import BENCHMARK, CHANGED, CHOOSE, COMPLETED
from windlass.sim.events.tree import next_completion
from windlass.sim.workers import events as event
from windlass.sim.workers import lane
from windlass.sim.workers import state as at
from windlass.sim.workers.state import NOBODY, WORLD

#: How :func:`_run` returned: out of events for now, all tasks done, no event left, a worker that cannot take a
#: task was chosen, the log is full; or, for a policy in Python, what it is to be asked or told.
PAUSED, DONE, STUCK, BAD, FULL, ASK, TELL_COMPLETED, TELL_CHANGED = range(8)
_ROOM = 8


@inlined
def _next_benchmark(world):
    time = world.floats[0, policy.BENCHMARK_AT]
    for scheduler in range(1, len(world.floats)):
        time = min(time, world.floats[scheduler, policy.BENCHMARK_AT])
    return time


@inlined
def _spread(completed, world, worker, sender, work, seconds):
    """Tell all schedulers but the one that sent the task."""
    for scheduler in range(len(world.ints)):
        if scheduler != sender:
            completed(worker, work, seconds, 0, world.ints[scheduler], world.floats[scheduler])


@inlined
def _send_benchmarks(benchmark, world, now):
    for scheduler in range(len(world.ints)):
        if world.floats[scheduler, policy.BENCHMARK_AT] <= now:
            worker = benchmark(now, world.ints[scheduler], world.floats[scheduler])
            work = world.floats[scheduler, policy.BENCHMARK_WORK]
            if world.tally[at.HIDDEN] != 0:
                # Only its own size is like that of recent tasks when nobody knows their sizes.
                work = world.work[world.tally[at.LAST_TASK]]
            if worker >= 0 and work > 0.0:
                lane.place_low(world, worker, work, scheduler, now)


@inlined
def _next_arrival(world):
    return world.submit[world.tally[at.ARRIVED]] if world.tally[at.ARRIVED] < len(world.submit) else np.inf


@inlined
def _next_change(world):
    row = world.tally[at.CHANGE]
    return world.change_time[row] if row < len(world.change_time) else np.inf


@inlined
def _next_report(world):
    return world.log_time[world.tally[at.LOG_FIRST]] if world.tally[at.LOG_SIZE] > 0 else np.inf


def _run(choose, completed, changed, benchmark, world, events):
    """Advance by so many events at most; how it returned."""
    count, ints, floats = world.tally, world.ints, world.floats
    delayed = world.clock[at.DELAY] > 0.0
    listens, python = ints[0, policy.LISTENS] != 0, count[at.PYTHON] != 0
    now = world.clock[at.NOW]
    arrival, change = _next_arrival(world), _next_change(world)
    report, due = _next_report(world), _next_benchmark(world)
    # Only then can a report or benchmark task become due earlier than it was at the last event.
    watch = delayed or due < np.inf
    other = min(change, report, due)
    if count[at.DONE] == len(world.submit):
        return DONE
    node = NOBODY
    for _ in range(events):
        if node == NOBODY and count[at.UP] > 0:
            node = event.unhold(world)
        if node != NOBODY:
            if python:
                chosen = count[at.ANSWER]
                if chosen == NOBODY:
                    event.hold_first(world, node)
                    return ASK
                count[at.ANSWER] = NOBODY
            else:
                owner = node // count[at.COPIES] if count[at.LATE] != 0 else node
                sender = event.sender_of(world, owner)
                chosen = choose(world.seen, ints[sender], floats[sender])
            if chosen < 0 or chosen >= len(world.length) or world.line[chosen].down != 0:
                count[at.SUBJECT] = chosen
                return BAD
            lane.place(world, chosen, node, now)
            node = NOBODY
            if count[at.WAIT_HEAD] != NOBODY:
                continue
        if watch:
            if delayed and count[at.LOG_SIZE] + _ROOM > len(world.log_time):
                return FULL
            report, due = _next_report(world), _next_benchmark(world)
            other = min(change, report, due)
        completion = next_completion(world.tree)
        if completion <= min(other, arrival):
            if completion == np.inf:
                return STUCK
            now = completion
            world.clock[at.NOW] = now
            worker, sender, own, work, seconds = event.finish(world, now)
            if python:
                count[at.SUBJECT] = worker
                world.clock[at.WORK], world.clock[at.SECONDS] = work, seconds
                return TELL_COMPLETED
            if listens:
                completed(worker, work, seconds, own, ints[sender], floats[sender])
                if len(ints) > 1:
                    if delayed:
                        event.report(world, worker, sender, work, seconds, now)
                    else:
                        _spread(completed, world, worker, sender, work, seconds)
            if count[at.DONE] == len(world.submit):
                return DONE
        elif arrival < other:
            now = arrival
            world.clock[at.NOW] = now
            node = event.arrive(world, now)
            arrival = _next_arrival(world)
        else:
            now = other
            world.clock[at.NOW] = now
            if change == now:
                told, worker, value = event.change(world, now)
                change = _next_change(world)
                if told != NOBODY:
                    if python:
                        count[at.EVENT], count[at.SUBJECT] = told, worker
                        return TELL_CHANGED
                    for scheduler in range(len(ints)):
                        changed(told, worker, value, ints[scheduler], floats[scheduler])
            elif report == now:
                slot = count[at.LOG_FIRST]
                count[at.LOG_FIRST] = (slot + 1) % len(world.log_time)
                count[at.LOG_SIZE] -= 1
                worker, sender = world.log_item[slot, 0], world.log_item[slot, 2]
                if sender == NOBODY:
                    world.seen[worker] = world.log_item[slot, 1]
                else:
                    _spread(
                        completed, world, worker, sender, world.log_value[slot, 0], world.log_value[slot, 1]
                    )
            else:
                _send_benchmarks(benchmark, world, now)
            report, due = _next_report(world), _next_benchmark(world)
            other = min(change, report, due)
    if node != NOBODY:
        event.hold_first(world, node)
    return DONE if count[at.DONE] == len(world.submit) else PAUSED


RUN = Kernel(
    _run,
    types.int64(
        types.FunctionType(CHOOSE),
        types.FunctionType(COMPLETED),
        types.FunctionType(CHANGED),
        types.FunctionType(BENCHMARK),
        WORLD,
        types.int64,
    ),
    allocates=False,
)
