"""Tasks that wait with their schedulers, in one list in the order of arrival, until a worker takes them.

A worker requests a task as it completes one, and may request further ones ahead as it starts one; they are in its
queue. A scheduler offers a task that arrives to all workers, idle and busy ones, and sends it at once.
"""

from __future__ import annotations

import numpy as np

from windlass.dispatch.state import OFFERED
from windlass.jit import index, inlined
from windlass.sim.events.tree import schedule
from windlass.sim.workers.log import count_unbound, unbound_elsewhere
from windlass.sim.workers.starting import begin, note_start, sender_of
from windlass.sim.workers.state import NONE


@inlined
def add(state, task, now):
    """Add a task to the list; one that lost its worker gets its place in the order of arrival."""
    progress = state.progress[0]
    before, following = progress.waiting_tail, np.int64(NONE)
    if before > task:
        before, following = np.int64(NONE), progress.waiting_head
        while following < task:
            before, following = following, np.int64(state.after[following])
    state.after[task] = following
    if before == NONE:
        progress.waiting_head = task
    else:
        state.after[before] = task
    if following == NONE:
        progress.waiting_tail = task
    count_unbound(state, sender_of(state, task), 1, now)


@inlined
def _remove(state, before, task, now):
    """Remove a task from the list; ``before`` is the one before it, or NONE."""
    progress = state.progress[0]
    following = np.int64(state.after[task])
    if before == NONE:
        progress.waiting_head = following
    else:
        state.after[before] = following
    if following == NONE:
        progress.waiting_tail = before
    count_unbound(state, sender_of(state, task), -1, now)


@inlined
def _take(state, bind, worker, held, now):
    """Remove the task that the policy chooses for a worker from the list and return it, or NONE.

    ``held`` is how many tasks the worker has, if it requests this one ahead.
    """
    progress = state.progress[0]
    task = progress.waiting_head
    if task == NONE:
        return task
    sender, fetch = sender_of(state, task), state.settings[0].fetch_delay
    waiting, others = state.unbound[sender], unbound_elsewhere(state, sender)
    place = bind(worker, now, waiting, others, held, fetch, state.ints[sender], state.floats[sender])
    if place == 0:
        return np.int64(NONE)
    before = np.int64(NONE)
    while place > 1 and state.after[task] != NONE:
        before, task = task, np.int64(state.after[task])
        place -= 1
    _remove(state, before, task, now)
    length = state.length[index(worker)] + 1
    state.length[index(worker)] = length
    progress.longest_queue = max(progress.longest_queue, length)
    return task


@inlined
def take_ahead(state, bind, worker, fetch, now):
    """Let a busy worker take its next tasks until the policy declines or none waits.

    ``fetch`` is when they arrive, s from now: a round trip if the worker requests them, and 0 if they are offered.
    """
    settings = state.settings[0]
    if settings.requests_ahead == 0:
        return
    line = state.line[index(worker)]
    task = np.int64(0)
    while task != NONE:
        task = _take(state, bind, worker, state.length[index(worker)], now)
        if task != NONE:
            state.arrives[task] = now + fetch
            state.after[task] = NONE
            if line.head == NONE:
                line.head = task
            else:
                state.after[line.tail] = task
            line.tail = task


@inlined
def begin_next(state, bind, worker, fetch, now):
    """Start the next task of an idle worker, and return when it will end; infinity if there is none for it.

    ``fetch`` is how long the worker waits for a task that it did not request ahead, s.
    """
    line = state.line[index(worker)]
    line.running = NONE
    task = np.int64(line.head)
    if task != NONE:
        line.head = state.after[task]
        now = max(now, state.arrives[task])
    else:
        task = _take(state, bind, worker, 0, now)
        if task == NONE:
            return np.inf
        now += fetch
    state.progress[0].idle -= 1
    note_start(state, worker, task, now)
    return begin(state, worker, task, state.work[task], now)


@inlined
def offer(choose, bind, state, sender, now):
    """Offer the waiting tasks to all workers, in the order in which a scheduler's policy names them."""
    settings, progress = state.settings[0], state.progress[0]
    ints, floats = state.ints[sender], state.floats[sender]
    ints[OFFERED] = 0
    worker = choose(state.known_length, ints, floats)
    while worker >= 0 and progress.unbound > 0 and (progress.idle > 0 or settings.requests_ahead != 0):
        line = state.line[index(worker)]
        if line.running == NONE and line.down == 0:
            # An idle worker's request is with the schedulers already, so that it does not wait for the task.
            schedule(state.tree, worker, begin_next(state, bind, worker, 0.0, now))
        if line.running != NONE:
            take_ahead(state, bind, worker, 0.0, now)
        worker = choose(state.known_length, ints, floats)


@inlined
def offer_again(choose, bind, state, now):
    """Offer waiting tasks again, after a completion or a change, on which what a policy answers may depend."""
    progress = state.progress[0]
    if progress.unbound > 0 and progress.idle > 0:
        offer(choose, bind, state, sender_of(state, progress.waiting_head), now)
