"""The loop of small tasks on workers: completions, changes of workers, log entries, benchmark tasks, arrivals.

Events of the same instant happen in this order; completions by worker number, changes and arrivals as listed. A task
that arrives, or loses its worker, is held for dispatch. Held tasks are dispatched, first come first served, before
the next event, as long as a worker is up.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.dispatch.compiled import REFUSE
from windlass.dispatch.state import BENCHMARK_AT, BENCHMARK_WORK, LISTENS
from windlass.jit import Kernel, inlined
from windlass.jit.schema import numba_type
from windlass.sim.events.tree import next_completion
from windlass.sim.handle import opening
from windlass.sim.status import ALL_DONE, FIRST_OWN, FULL, PAUSED, POLICY_DUE, REACHED
from windlass.sim.workers import central, events, log, low_priority, spill
from windlass.sim.workers.node_changes import settle_worker
from windlass.sim.workers.starting import sender_of
from windlass.sim.workers.state import NONE, WorkersRun

#: Further statuses of :func:`_run`: a policy chose a worker that is down or does not exist; a policy in Python has
#: to be notified of a completion, or of a change.
BAD_CHOICE, NOTIFY_COMPLETED, NOTIFY_CHANGED = range(FIRST_OWN, FIRST_OWN + 3)

RUN_TYPE = numba_type(WorkersRun)
_opened = opening(RUN_TYPE)


@inlined
def _next_arrival(state):
    if state.settings[0].spills != 0:
        return spill.next_arrival(state)
    task = state.progress[0].arrived
    return state.submit[task] if task < len(state.submit) else np.inf


@inlined
def _next_change(state):
    row = state.progress[0].next_change
    return state.change_time[row] if row < len(state.change_time) else np.inf


@inlined
def _next_benchmark(state):
    time = state.floats[0, BENCHMARK_AT]
    for scheduler in range(1, len(state.floats)):
        time = min(time, state.floats[scheduler, BENCHMARK_AT])
    return time


@inlined
def _paused(state):
    """Return ALL_DONE if all tasks are complete or refused and no other part may spill tasks, else PAUSED."""
    progress = state.progress[0]
    return ALL_DONE if progress.completed == progress.expected and state.settings[0].spills == 0 else PAUSED


@inlined
def _dispatch(choose, bind, python, state, node, now):
    """Send a node to the worker that its scheduler chooses, or refuse it; return PAUSED, or the status to return."""
    settings, exchange = state.settings[0], state.exchange[0]
    if settings.central != 0:
        central.add(state, node, now)
        central.offer(choose, bind, state, sender_of(state, node), now)
        return PAUSED
    if python:
        chosen = exchange.chosen
        if chosen == NONE:
            events.hold_first(state, node)
            return POLICY_DUE
        exchange.chosen = NONE
    else:
        task = node // settings.copies if settings.late_binding != 0 else node
        sender = sender_of(state, task)
        if settings.count_sent != 0:
            chosen = choose(state.seen_length[sender], state.ints[sender], state.floats[sender])
        else:
            chosen = choose(state.known_length, state.ints[sender], state.floats[sender])
    if chosen < 0 or chosen >= len(state.length) or state.line[chosen].down != 0:
        if chosen == REFUSE and settings.refusing_at != NONE and settings.late_binding == 0:
            events.refuse(state, node, now)
            return _paused(state)
        exchange.worker = chosen
        return BAD_CHOICE
    low_priority.place(state, chosen, node, now)
    return PAUSED


@inlined
def _notify_others(completed, state, worker, sender, work, seconds):
    """Notify all schedulers but the sender of a completion."""
    for scheduler in range(len(state.ints)):
        if scheduler != sender:
            completed(worker, work, seconds, 0, state.ints[scheduler], state.floats[scheduler])


@inlined
def _complete(completed, choose, bind, python, state, now):
    """Carry out the completion that is due and notify schedulers; return PAUSED, or the status to return."""
    worker, sender, own, work, seconds = events.finish(state, bind, now)
    if python:
        exchange = state.exchange[0]
        exchange.worker = worker
        exchange.work, exchange.seconds = work, seconds
        return NOTIFY_COMPLETED
    if state.ints[0, LISTENS] != 0:
        completed(worker, work, seconds, own, state.ints[sender], state.floats[sender])
        if len(state.ints) > 1:
            if state.settings[0].probe_delay > 0.0:
                log.note_completion(state, worker, sender, work, seconds, now)
            else:
                _notify_others(completed, state, worker, sender, work, seconds)
    if state.settings[0].central != 0:
        central.offer_again(choose, bind, state, now)
    return _paused(state)


@inlined
def _notify_change(changed, state, event, worker, value):
    """Notify all schedulers of a change of a worker."""
    for scheduler in range(len(state.ints)):
        changed(event, worker, value, state.ints[scheduler], state.floats[scheduler])


@inlined
def _change(changed, choose, bind, python, state, now):
    """Carry out the next change and notify schedulers; return PAUSED, or NOTIFY_CHANGED for a policy in Python."""
    event, worker, value = events.change(state, now)
    if event == NONE:
        return PAUSED
    if python:
        exchange = state.exchange[0]
        exchange.event, exchange.worker = event, worker
        return NOTIFY_CHANGED
    _notify_change(changed, state, event, worker, value)
    if state.settings[0].central != 0:
        central.offer_again(choose, bind, state, now)
    return PAUSED


@inlined
def _reveal(completed, state):
    """Let schedulers know the next entry of the log."""
    entry = state.log[log.take_entry(state)]
    worker, sender = np.int64(entry.worker), np.int64(entry.sender)
    if sender == NONE:
        log.reveal_length(state, worker, np.int64(entry.length), np.int64(entry.sent_by))
    elif worker == NONE:
        log.reveal_unbound(state, sender, entry.length)
    else:
        _notify_others(completed, state, worker, sender, entry.work, entry.seconds)


@inlined
def _send_benchmarks(benchmark, state, now):
    """Send the benchmark tasks that are due."""
    for scheduler in range(len(state.ints)):
        if state.floats[scheduler, BENCHMARK_AT] <= now:
            worker = benchmark(now, state.ints[scheduler], state.floats[scheduler])
            work = state.floats[scheduler, BENCHMARK_WORK]
            if state.settings[0].sizes_hidden != 0:
                # The policy cannot size it like recent tasks, as it does not know their work.
                work = state.work[state.progress[0].last_task]
            if worker >= 0 and work > 0.0:
                low_priority.place_low(state, worker, work, scheduler, now)


def _run(address, until, steps):
    """Carry out at most `steps` events before `until`, and completions at `until`; return a status."""
    run = _opened(address)
    state = run.state
    settings, progress = state.settings[0], state.progress[0]
    delayed, python = settings.probe_delay > 0.0, settings.python_policy != 0
    refuses = settings.refusing_at != NONE
    now = progress.now
    arrival, change = _next_arrival(state), _next_change(state)
    report, due = log.next_time(state), _next_benchmark(state)
    other = min(change, report, due, until)
    # Otherwise no event can make a log entry or a benchmark task due earlier.
    watch = delayed or due < np.inf
    if _paused(state) == ALL_DONE:
        return ALL_DONE
    node = NONE
    for _ in range(steps):
        if node == NONE and progress.workers_up > 0:
            node = events.take_held(state)
        if node != NONE:
            if delayed and log.is_full(state):
                events.hold_first(state, node)
                return FULL
            status = _dispatch(run.choose, run.bind, python, state, node, now)
            if status != PAUSED:
                return status
            node = NONE
            if progress.held_head != NONE:
                continue
        if watch:
            if delayed and log.is_full(state):
                return FULL
            report, due = log.next_time(state), _next_benchmark(state)
            other = min(change, report, due, until)
        completion = next_completion(state.tree)
        if completion <= min(other, arrival):
            if completion == np.inf:
                return REACHED
            now = progress.now = completion
            status = _complete(run.completed, run.choose, run.bind, python, state, now)
            if status != PAUSED:
                return status
        elif arrival < other:
            now = progress.now = arrival
            node = events.arrive(state, now)
            arrival = _next_arrival(state)
            if refuses and _paused(state) == ALL_DONE:
                return ALL_DONE
        elif other == until:
            return REACHED
        else:
            now = progress.now = other
            if change == now:
                status = _change(run.changed, run.choose, run.bind, python, state, now)
                if status != PAUSED:
                    return status
                change = _next_change(state)
            elif report == now:
                _reveal(run.completed, state)
            else:
                _send_benchmarks(run.benchmark, state, now)
            report, due = log.next_time(state), _next_benchmark(state)
            other = min(change, report, due, until)
    if node != NONE:
        events.hold_first(state, node)
    return _paused(state)


def _settle(address, now):
    """Adapt workers to the changed rows of the ledger; return a status, and expect another call until REACHED."""
    run = _opened(address)
    state, nodes = run.state, run.nodes
    settings, progress = state.settings[0], state.progress[0]
    while progress.settled < nodes.counts[0].to_settle:
        if settings.probe_delay > 0.0 and log.is_full(state):
            return FULL
        row = nodes.to_settle[progress.settled]
        progress.settled += 1
        worker = run.worker_of[row]
        event = NONE if worker == NONE else settle_worker(state, nodes, worker, row, now)
        if worker != NONE:
            progress.now = now
        if event == NONE:
            continue
        if settings.python_policy != 0:
            exchange = state.exchange[0]
            exchange.event, exchange.worker = event, worker
            return NOTIFY_CHANGED
        _notify_change(run.changed, state, event, worker, np.float64(state.line[worker].speed))
        if settings.central != 0:
            central.offer_again(run.choose, run.bind, state, now)
    progress.settled = 0
    return REACHED


def _horizon(address):
    """Return infinity, as tasks hold no cores and policies are called in the loop; or when spilled tasks are due."""
    return spill.horizon(_opened(address).state)


def _ended(address):
    """Return whether all tasks are complete or refused, and no other part may spill tasks to this one."""
    state = _opened(address).state
    return np.int64(state.progress[0].completed == state.progress[0].expected and spill.others_ended(state))


RUN = Kernel(_run, types.int64(types.int64, types.float64, types.int64), allocates=False)
SETTLE = Kernel(_settle, types.int64(types.int64, types.float64), allocates=False)
HORIZON = Kernel(_horizon, types.float64(types.int64), allocates=False)
ENDED = Kernel(_ended, types.int64(types.int64), allocates=False)
KERNELS = (RUN, SETTLE, HORIZON, ENDED)
