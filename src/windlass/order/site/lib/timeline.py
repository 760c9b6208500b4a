"""Idle processors over time in blocks, for long queues: a search skips whole blocks, and a new step moves one block.

A block holds a few dozen steps and the maximum and minimum of its free processors, so that a search for a job's first
fit skips whole blocks that have too few or enough. A new step moves only the rest of its block, which is split when it
is full. A change of a whole block is stored as one number of the block.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import allocating, index, inlined, lean

#: Steps that a block has room for; a block starts half full.
ROOM = 32


class Timeline(NamedTuple):
    """Idle processors over time, in b blocks.

    Parameters
    ----------
    times
        (b, ROOM) start of each step, s, ascending.
    free
        (b, ROOM) free processors from then on, without the block's ``shift``; the last step has no end.
    shift
        (b,) number added to every step of a block.
    most, least
        (b,) maximum and minimum of free processors within a block.
    used
        (b,) number of steps in use in a block.
    order
        (b,) the blocks in order of time.
    starts
        (b,) first time of each block, s, in order of time: a search through ``times`` would read a line of memory a
        block.
    blocks
        (1,) number of blocks in use.
    """

    times: NDArray[np.float64]
    free: NDArray[np.int64]
    shift: NDArray[np.int64]
    most: NDArray[np.int64]
    least: NDArray[np.int64]
    used: NDArray[np.int64]
    order: NDArray[np.int64]
    starts: NDArray[np.float64]
    blocks: NDArray[np.int64]


@lean
def end_of(start, duration):
    """Return when a job that starts at ``start`` ends: always later than ``start``, even for a duration of 0."""
    end = start + duration
    return end if end > start else np.nextafter(start, np.inf)


@allocating
def make_timeline(steps, more):
    """Return an empty timeline with room for ``steps`` appended in order, and ``more`` inserted anywhere."""
    blocks = (2 * steps) // ROOM + (2 * more) // ROOM + 2
    # One allocation for five arrays: a timeline is made at each decision.
    numbers, count = np.empty((5, blocks), np.int64), np.zeros(1, np.int64)
    shift, most, least, used, order = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    times, free = np.empty((blocks, ROOM)), np.empty((blocks, ROOM), np.int64)
    return Timeline(times, free, shift, most, least, used, order, np.empty(blocks), count)


@inlined
def append_step(line, time, free):
    """Append a step after all others."""
    block = index(line.blocks[0] - 1)
    if line.blocks[0] == 0 or line.used[block] == ROOM // 2:
        block += index(1)
        line.order[block], line.blocks[0] = block, block + index(1)
        line.starts[block], line.used[block], line.shift[block] = time, 0, 0
        line.most[block] = line.least[block] = free
    place = index(line.used[block])
    line.times[block, place], line.free[block, place] = time, free
    line.used[block] = place + index(1)
    line.most[block], line.least[block] = max(line.most[block], free), min(line.least[block], free)


@lean
def _place_of(line, time):
    """Return the position in ``order`` of the block that contains a time, which is not before the first step."""
    low, high = 0, line.blocks[0]
    while high - low > 1:
        middle = (low + high) >> 1
        if line.starts[index(middle)] <= time:
            low = middle
        else:
            high = middle
    return low


@inlined
def _search(line, procs, duration, before, limit, floor, first_place):
    """Return the first fit, as :func:`earliest_before`, not below ``floor``, and the position where the search ended.

    ``first_place`` is the position of the block that contains the floor.
    """
    start, until, blocked, place = before, before, True, first_place
    while place < line.blocks[0]:
        block, first = index(line.order[place]), line.starts[place]
        if first >= before or (first >= limit if blocked else first >= until):
            break
        place += 1
        if line.most[block] < procs:
            blocked = True
            continue
        if line.least[block] >= procs and first >= floor:
            if blocked:
                start, until, blocked = first, end_of(first, duration), False
            continue
        need = procs - line.shift[block]
        for step in range(index(line.used[block])):
            # Only a step that differs from the one before it is compared in time.
            if (line.free[block, step] < need) == blocked:
                continue
            time = line.times[block, step]
            if not blocked:
                if time >= before or time >= until:
                    return start, place
                blocked = True
            elif time >= before or time >= limit:
                return before, place
            elif time >= floor:
                start, until, blocked = time, end_of(time, duration), False
    return before if blocked else start, place


@lean
def earliest_before(line, procs, duration, before, limit):
    """Return the first time before ``before`` from which ``procs`` processors stay free for ``duration`` seconds.

    Processors need to stay free only up to ``before``, which is returned if no earlier time qualifies: the caller's own
    reservation may hold the processors from ``before`` on. Times from ``limit`` on are not considered.
    """
    return _search(line, procs, duration, before, limit, -np.inf, 0)[0]


@lean
def earliest_between(line, procs, duration, before, limit, floor):
    """Return what :func:`earliest_before` does without times below ``floor``, and the number of blocks read."""
    place = _place_of(line, floor)
    at, last = _search(line, procs, duration, before, limit, floor, place)
    return at, last - place


@lean
def _update_bounds(line, block):
    """Recompute the maximum and minimum of a block."""
    most = least = line.free[block, 0]
    for step in range(1, line.used[block]):
        most, least = max(most, line.free[block, step]), min(least, line.free[block, step])
    line.most[block], line.least[block] = most + line.shift[block], least + line.shift[block]


@lean
def _halve(line, place):
    """Move the second half of a full block to a new one that follows it."""
    block, other, half = line.order[place], line.blocks[0], ROOM // 2
    for step in range(half, ROOM):
        line.times[other, step - half] = line.times[block, step]
        line.free[other, step - half] = line.free[block, step]
    line.used[block], line.used[other], line.shift[other] = half, ROOM - half, line.shift[block]
    for later in range(line.blocks[0], place + 1, -1):
        line.order[later], line.starts[later] = line.order[later - 1], line.starts[later - 1]
    line.order[place + 1], line.starts[place + 1] = other, line.times[other, 0]
    line.blocks[0] += 1
    _update_bounds(line, block)
    _update_bounds(line, other)


@lean
def _cut(line, time):
    """Start a step at a time if none does, and return the position in ``order`` of its block."""
    place = _place_of(line, time)
    if line.used[line.order[place]] == ROOM:
        _halve(line, place)
        place += line.starts[place + 1] <= time
    block = line.order[place]
    step = line.used[block]
    while step > 0 and line.times[block, step - 1] > time:
        step -= 1
    if line.times[block, step - 1] == time:
        return place
    for later in range(line.used[block], step, -1):
        line.times[block, later] = line.times[block, later - 1]
        line.free[block, later] = line.free[block, later - 1]
    line.times[block, step], line.free[block, step] = time, line.free[block, step - 1]
    line.used[block] += 1
    return place


@lean
def is_covered(line, start, end):
    """Return whether no step from ``start`` until ``end`` has a negative number of free processors."""
    for place in range(_place_of(line, start), line.blocks[0]):
        block = line.order[place]
        if line.starts[place] >= end:
            break
        if line.least[block] >= 0:
            continue
        for step in range(line.used[block]):
            if start <= line.times[block, step] < end and line.free[block, step] + line.shift[block] < 0:
                return False
    return True


@lean
def take_from(line, procs, start, end):
    """Subtract ``procs`` processors (add them if negative) from a finite ``start`` until ``end``, s."""
    first = _cut(line, start)
    _cut(line, end)
    # The second step may have moved the first one to the next block, but not further.
    for place in range(first, line.blocks[0]):
        block = line.order[place]
        if line.starts[place] >= end:
            break
        if line.starts[place] >= start and line.times[block, line.used[block] - 1] < end:
            line.shift[block] -= procs
            line.most[block] -= procs
            line.least[block] -= procs
            continue
        for step in range(line.used[block]):
            if start <= line.times[block, step] < end:
                line.free[block, step] -= procs
        _update_bounds(line, block)
