"""Steps of one worker and its two queues: real tasks first, benchmark tasks at low priority."""

from __future__ import annotations

import numpy as np

from windlass.jit import index, inlined, pick
from windlass.sim.events.tree import schedule
from windlass.sim.workers import central
from windlass.sim.workers.late import begin_late
from windlass.sim.workers.log import note_length, note_sent
from windlass.sim.workers.starting import begin, note_start, sender_of
from windlass.sim.workers.state import NEVER, NONE, real_nodes


@inlined
def expect(state, worker, node):
    """Compute ahead of time how long the first node in the queue will take.

    Otherwise the loop would wait at every completion for the node's work from memory, and then for a division.
    With late binding the task is not known yet, and the value is not used.
    """
    if state.settings[0].late_binding == 0:
        line = state.line[index(worker)]
        line.first_seconds = pick(
            node != NONE, state.work[index(node if node > 0 else 0)] / line.speed, np.inf
        )


@inlined
def begin_next(state, bind, worker, now):
    """Start the next node of an idle worker: a real task, else a benchmark task, else none."""
    settings = state.settings[0]
    line = state.line[index(worker)]
    node = np.int64(line.head)
    if settings.central != 0:
        state.progress[0].idle += 1
        end = central.begin_next(state, bind, worker, settings.fetch_delay, now)
        if line.running != NONE:
            central.take_ahead(state, bind, worker, settings.fetch_delay, now)
    elif settings.late_binding != 0:
        end = np.inf
        line.running = NONE
        while line.running == NONE and node != NONE:
            following = np.int64(state.after[node])
            late = begin_late(state, worker, node, now)
            line.head = following
            if late == NEVER:
                state.length[worker] -= 1
            else:
                end = late
            node = following
    else:
        # No branch, which would be mispredicted: an empty queue starts NONE, which ends at infinity.
        task = index(node if node > 0 else 0)
        end = now + line.first_seconds
        line.running = node
        line.work_left = state.work[task]
        line.since = line.started = now
        line.head = pick(node != NONE, np.int64(state.after[task]), node)
        expect(state, worker, np.int64(line.head))
        if settings.record != 0 and node != NONE:
            note_start(state, worker, node, now)
    if len(state.low_work) > 0 and line.running == NONE and line.low_head != NONE:
        low = np.int64(line.low_head)
        line.low_head = state.after[low]
        state.low_count[worker] -= 1
        state.length[worker] += 1
        state.progress[0].idle -= 1
        end = begin(state, worker, low, state.low_work[low - real_nodes(state)], now)
    schedule(state.tree, worker, end)


@inlined
def queue(state, worker, node):
    """Append the node of a real task to a worker's queue."""
    line = state.line[index(worker)]
    head = np.int64(line.head)
    empty = head == NONE
    # No branch: in an empty queue the node follows itself until the next line.
    state.after[index(pick(empty, node, np.int64(line.tail)))] = node
    state.after[index(node)] = NONE
    line.tail = node
    line.head = pick(empty, node, head)
    expect(state, worker, np.int64(line.head))


@inlined
def place(state, worker, node, now):
    """Send the node of a real task to a worker: it starts if the worker is idle, else it is queued."""
    settings = state.settings[0]
    late = settings.late_binding != 0
    placed = True
    if state.line[index(worker)].running != NONE:
        queue(state, worker, node)
    else:
        if late:
            end = begin_late(state, worker, node, now)
        else:
            note_start(state, worker, node, now)
            end = begin(state, worker, node, state.work[index(node)], now)
        placed = end != NEVER
        if placed:
            schedule(state.tree, worker, end)
    if placed:
        progress = state.progress[0]
        length = state.length[index(worker)] + 1
        state.length[index(worker)] = length
        if length > progress.longest_queue:
            progress.longest_queue = length
        task = node // settings.copies if late else node
        note_sent(state, worker, sender_of(state, task), now)


@inlined
def hold(state, node):
    """Hold a node for dispatch behind all others."""
    progress = state.progress[0]
    state.after[node] = NONE
    if progress.held_head == NONE:
        progress.held_head = node
    else:
        state.after[progress.held_tail] = node
    progress.held_tail = node


@inlined
def place_low(state, worker, work, sender, now):
    """Send a benchmark task to a worker; it is dropped if its queue is full or the worker is down."""
    progress = state.progress[0]
    line = state.line[worker]
    node = progress.free_node
    if line.down != 0 or state.low_count[worker] >= state.settings[0].low_room:
        progress.dropped += 1
        return
    progress.free_node = state.after[node]
    state.low_work[node - real_nodes(state)] = work
    state.low_sender[node - real_nodes(state)] = sender
    if line.running == NONE:
        state.length[worker] += 1
        progress.idle -= 1
        schedule(state.tree, worker, begin(state, worker, node, work, now))
        note_length(state, worker, now)
        return
    state.after[node] = NONE
    if line.low_head == NONE:
        line.low_head = node
    else:
        state.after[line.low_tail] = node
    line.low_tail = node
    state.low_count[worker] += 1


@inlined
def free_low(state, node):
    """Free the node of a benchmark task."""
    progress = state.progress[0]
    state.after[node] = progress.free_node
    progress.free_node = node
