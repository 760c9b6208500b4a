"""What is done with a worker's two lanes: nodes are queued, taken in hand and given back."""

from __future__ import annotations

import numpy as np

from windlass.jit import index, inlined, pick
from windlass.sim.events.tree import schedule
from windlass.sim.workers import slots
from windlass.sim.workers.log import note_length
from windlass.sim.workers.state import NEVER, NOBODY, PASSED, real_nodes


@inlined
def begin(state, worker, node, work, now):
    """Take a node in hand now; when it will end."""
    line = state.line[index(worker)]
    line.running = node
    line.work_left = work
    line.since = line.started = now
    return now + work / line.speed


@inlined
def sender_of(state, task):
    """The scheduler that a task comes to."""
    return state.sender[task] if len(state.ints) > 1 else 0


@inlined
def next_unbound(state, node):
    """The task that a reservation is good for, or NOBODY where its job has none left to take."""
    own = node // state.counts[slots.COPIES]
    job = state.job[own]
    task = state.next_task[job]
    none = state.unbound[job] == 0 if state.counts[slots.POOLED] != 0 else task == state.last_task[job]
    return NOBODY if none else task


@inlined
def take_task(state, node, task):
    """Let a reservation have a task, which no other can have then."""
    job = state.job[task]
    pooled = state.counts[slots.POOLED] != 0
    state.next_task[job] = state.following[task] if pooled else task + 1
    state.unbound[sender_of(state, task)] -= 1
    state.bound[node] = task


@inlined
def begin_late(state, bind, worker, node, now):
    """Take a reservation in hand now; when its task will end, NEVER where there is none, PASSED where another is to."""
    task = state.bound[node]
    if task == NOBODY:
        task = next_unbound(state, node)
        if task == NOBODY:
            return NEVER
        sender = sender_of(state, task)
        if bind(worker, now, state.unbound[sender], state.ints[sender], state.floats[sender]) == 0:
            return PASSED
        take_task(state, node, task)
    note_start(state, worker, task, now)
    return begin(state, worker, node, state.work[task], now)


@inlined
def note_start(state, worker, task, now):
    """Keep when and where a task starts, if it is to be kept."""
    if state.counts[slots.RECORD] != 0:
        state.start[task] = now
        state.worker[task] = worker


@inlined
def expect(state, worker, node):
    """Work out how long the first in the queue will take, while there is time.

    Else the loop would wait, at every completion, for its work to come from memory and then for a division.
    With late binding nobody knows yet, and it is not used.
    """
    if state.counts[slots.BINDS_LATE] == 0:
        line = state.line[index(worker)]
        line.first_seconds = pick(
            node != NOBODY, state.work[index(node if node > 0 else 0)] / line.speed, np.inf
        )


@inlined
def begin_next(state, bind, worker, now):
    """Run what is next at a worker that has nothing in hand: a real task, else a benchmark task, else nothing."""
    line = state.line[index(worker)]
    node = np.int64(line.head)
    if state.counts[slots.BINDS_LATE] != 0:
        end = np.inf
        line.running = NOBODY
        while line.running == NOBODY and node != NOBODY:
            following = np.int64(state.after[node])
            late = begin_late(state, bind, worker, node, now)
            if late == PASSED:
                # It stays where it is, to be asked again when the next one comes.
                break
            line.head = following
            if late == NEVER:
                state.length[worker] -= 1
            else:
                end = late
            node = following
    else:
        # Without a branch, which would be mispredicted: where nothing waits, this takes nothing in hand, for ever.
        task = index(node if node > 0 else 0)
        end = now + line.first_seconds
        line.running = node
        line.work_left = state.work[task]
        line.since = line.started = now
        line.head = pick(node != NOBODY, np.int64(state.after[task]), node)
        expect(state, worker, np.int64(line.head))
        if state.counts[slots.RECORD] != 0 and node != NOBODY:
            note_start(state, worker, node, now)
    if len(state.low_work) > 0 and line.running == NOBODY and line.low_head != NOBODY:
        low = np.int64(line.low_head)
        line.low_head = state.after[low]
        state.low_count[worker] -= 1
        state.length[worker] += 1
        end = begin(state, worker, low, state.low_work[low - real_nodes(state)], now)
    schedule(state.tree, worker, end)


@inlined
def queue(state, worker, node):
    """Put a node of a real task at the end of a worker's queue."""
    line = state.line[index(worker)]
    head = np.int64(line.head)
    empty = head == NOBODY
    # Without a branch: where nothing waits, the node is for a moment the one after itself.
    state.after[index(pick(empty, node, np.int64(line.tail)))] = node
    state.after[index(node)] = NOBODY
    line.tail = node
    line.head = pick(empty, node, head)
    expect(state, worker, np.int64(line.head))


@inlined
def place(state, bind, worker, node, now):
    """Put a node of a real task at a worker: in hand if it is idle, else at the end of the queue."""
    late = state.counts[slots.BINDS_LATE] != 0
    line = state.line[index(worker)]
    taken = True
    if line.running != NOBODY:
        queue(state, worker, node)
    elif late and line.head != NOBODY:
        # It passed on those that it has; with one more it looks at them anew.
        queue(state, worker, node)
        begin_next(state, bind, worker, now)
    else:
        if late:
            end = begin_late(state, bind, worker, node, now)
        else:
            note_start(state, worker, node, now)
            end = begin(state, worker, node, state.work[index(node)], now)
        taken = end != NEVER
        if end == PASSED:
            queue(state, worker, node)
        elif taken:
            schedule(state.tree, worker, end)
    if taken:
        length = state.length[index(worker)] + 1
        state.length[index(worker)] = length
        if length > state.counts[slots.LONGEST]:
            state.counts[slots.LONGEST] = length
        note_length(state, worker, now)


@inlined
def hold(state, node):
    """Put a node at the end of those that wait to be dispatched."""
    state.after[node] = NOBODY
    if state.counts[slots.WAIT_HEAD] == NOBODY:
        state.counts[slots.WAIT_HEAD] = node
    else:
        state.after[state.counts[slots.WAIT_TAIL]] = node
    state.counts[slots.WAIT_TAIL] = node


@inlined
def place_low(state, worker, work, sender, now):
    """Put a benchmark task in a worker's low lane; it is dropped if the lane is full or the worker is down."""
    line = state.line[worker]
    node = state.counts[slots.FREE_NODE]
    if line.down != 0 or state.low_count[worker] >= state.counts[slots.LANE_ROOM]:
        state.counts[slots.DROPPED] += 1
        return
    state.counts[slots.FREE_NODE] = state.after[node]
    state.low_work[node - real_nodes(state)] = work
    state.low_sender[node - real_nodes(state)] = sender
    if line.running == NOBODY:
        state.length[worker] += 1
        schedule(state.tree, worker, begin(state, worker, node, work, now))
        note_length(state, worker, now)
        return
    state.after[node] = NOBODY
    if line.low_head == NOBODY:
        line.low_head = node
    else:
        state.after[line.low_tail] = node
    line.low_tail = node
    state.low_count[worker] += 1


@inlined
def free_low(state, node):
    """Give back a benchmark task's node."""
    state.after[node] = state.counts[slots.FREE_NODE]
    state.counts[slots.FREE_NODE] = node
