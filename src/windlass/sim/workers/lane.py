"""What is done with a worker's two lanes: nodes are queued, taken in hand and given back."""

from __future__ import annotations

import numpy as np

from windlass.compiled import index, inlined, pick
from windlass.sim.events.tree import schedule
from windlass.sim.workers import state as at
from windlass.sim.workers.state import NEVER, NOBODY


@inlined
def begin(world, worker, node, work, now):
    """Take a node in hand now; when it will end."""
    line = world.line[index(worker)]
    line.running = node
    line.left = work
    line.since = line.started = now
    return now + work / line.speed


@inlined
def begin_late(world, worker, node, now):
    """Take a reservation in hand now; when its task will end, or NEVER where its job has no task left to take."""
    task = world.bound[node]
    if task == NOBODY:
        job = world.job[node // world.tally[at.COPIES]]
        if world.next_task[job] == world.last_task[job]:
            return NEVER
        task = world.next_task[job]
        world.next_task[job] = task + 1
        world.bound[node] = task
    note_start(world, worker, task, now)
    return begin(world, worker, node, world.work[task], now)


@inlined
def note_start(world, worker, task, now):
    if world.tally[at.RECORD] != 0:
        world.start[task] = now
        world.worker[task] = worker


@inlined
def expect(world, worker, node):
    """Work out how long the first in the queue will take, while there is time.

    Else the loop would wait, at every completion, for its work to come from memory and then for a division.
    With late binding nobody knows yet, and it is not used.
    """
    if world.tally[at.LATE] == 0:
        line = world.line[index(worker)]
        line.first = pick(node != NOBODY, world.work[index(node if node > 0 else 0)] / line.speed, np.inf)


@inlined
def begin_next(world, worker, now):
    """Run what is next at a worker that has nothing in hand: a real task, else a benchmark task, else nothing."""
    line = world.line[index(worker)]
    node = np.int64(line.head)
    if world.tally[at.LATE] != 0:
        end = np.inf
        line.running = NOBODY
        while line.running == NOBODY and node != NOBODY:
            line.head = world.after[node]
            late = begin_late(world, worker, node, now)
            if late == NEVER:
                world.length[worker] -= 1
            else:
                end = late
            node = np.int64(line.head)
    else:
        # Without a branch, which would be mispredicted: where nothing waits, this takes nothing in hand, for ever.
        task = index(node if node > 0 else 0)
        end = now + line.first
        line.running = node
        line.left = world.work[task]
        line.since = line.started = now
        line.head = pick(node != NOBODY, np.int64(world.after[task]), node)
        expect(world, worker, np.int64(line.head))
        if world.tally[at.RECORD] != 0 and node != NOBODY:
            note_start(world, worker, node, now)
    if len(world.low_work) > 0 and line.running == NOBODY and line.low_head != NOBODY:
        low = np.int64(line.low_head)
        line.low_head = world.after[low]
        world.low_count[worker] -= 1
        world.length[worker] += 1
        end = begin(world, worker, low, world.low_work[low - at.real_nodes(world)], now)
    schedule(world.tree, worker, end)


@inlined
def queue(world, worker, node):
    """Put a node of a real task at the end of a worker's queue."""
    line = world.line[index(worker)]
    head = np.int64(line.head)
    empty = head == NOBODY
    # Without a branch: where nothing waits, the node is for a moment the one after itself.
    world.after[index(pick(empty, node, np.int64(line.tail)))] = node
    world.after[index(node)] = NOBODY
    line.tail = node
    line.head = pick(empty, node, head)
    expect(world, worker, np.int64(line.head))


@inlined
def place(world, worker, node, now):
    """Put a node of a real task at a worker: in hand if it is idle, else at the end of the queue."""
    taken = True
    if world.line[index(worker)].running != NOBODY:
        queue(world, worker, node)
    else:
        if world.tally[at.LATE] != 0:
            end = begin_late(world, worker, node, now)
        else:
            note_start(world, worker, node, now)
            end = begin(world, worker, node, world.work[index(node)], now)
        taken = end != NEVER
        if taken:
            schedule(world.tree, worker, end)
    if taken:
        length = world.length[index(worker)] + 1
        world.length[index(worker)] = length
        if length > world.tally[at.LONGEST]:
            world.tally[at.LONGEST] = length
        at.note_length(world, worker, now)


@inlined
def hold(world, node):
    """Put a node at the end of those that wait to be dispatched."""
    world.after[node] = NOBODY
    if world.tally[at.WAIT_HEAD] == NOBODY:
        world.tally[at.WAIT_HEAD] = node
    else:
        world.after[world.tally[at.WAIT_TAIL]] = node
    world.tally[at.WAIT_TAIL] = node


@inlined
def place_low(world, worker, work, sender, now):
    """Put a benchmark task in a worker's low lane; it is dropped if the lane is full or the worker is down."""
    line = world.line[worker]
    node = world.tally[at.POOL]
    if line.down != 0 or world.low_count[worker] >= world.tally[at.LANE]:
        world.tally[at.DROPPED] += 1
        return
    world.tally[at.POOL] = world.after[node]
    world.low_work[node - at.real_nodes(world)] = work
    world.low_sender[node - at.real_nodes(world)] = sender
    if line.running == NOBODY:
        world.length[worker] += 1
        schedule(world.tree, worker, begin(world, worker, node, work, now))
        at.note_length(world, worker, now)
        return
    world.after[node] = NOBODY
    if line.low_head == NOBODY:
        line.low_head = node
    else:
        world.after[line.low_tail] = node
    line.low_tail = node
    world.low_count[worker] += 1


@inlined
def free_low(world, node):
    """Give back a benchmark task's node."""
    world.after[node] = world.tally[at.POOL]
    world.tally[at.POOL] = node
