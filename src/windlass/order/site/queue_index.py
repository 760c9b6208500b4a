"""An index of a long queue: a backfilling policy finds the next job that fits without reading the jobs before it.

The index is a tree over the positions of the queue's array: a *leaf* has :data:`FAN` positions, and a node of a higher
level has as many nodes of the level below. Jobs are divided into *classes* by processors: class c has the jobs with
more than ``bounds[c - 1]`` and at most ``bounds[c]``. For each class, a node has a lower bound of the shortest request
among its jobs that have at most ``bounds[c]`` processors. A node without a job that is narrow and short enough is
skipped after one comparison.

An engine that keeps an index leaves holes in the queue, entries of :data:`HOLE`, where jobs have left it. It renews the
bounds of the leaf then, which are exact, and not those of higher levels: a search that enters a node in vain renews the
node's bounds.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import index, inlined, lean
from windlass.jit.float_bits import interval_of
from windlass.jit.schema import column

#: Entry of a queue from which a job has left.
HOLE = -1
#: Positions of a leaf, and nodes below a node; a power of two, of which FAN_BITS is the logarithm.
FAN_BITS = 4
FAN = 1 << FAN_BITS
#: Classes of jobs between a number of processors and twice that number; a power of two.
PER_DOUBLING = 8
#: Its logarithm, and the intervals of :func:`~windlass.jit.float_bits.interval_of` before those that are classes.
_BITS = 3
_BEFORE_FIRST = (_BITS - 1) * PER_DOUBLING


class QueueIndex(NamedTuple):
    """The index of a queue.

    Parameters
    ----------
    first
        Position of the queue's first entry in its array.
    bounds
        (c,) most processors of each class, ascending.
    levels
        (l,) number of the first node of each level, leaves first.
    shortest
        (n, c) lower bound, s, of the requests of the jobs in each node that have at most ``bounds`` processors;
        infinity for no job; requests are finite.
    """

    first: int
    bounds: Annotated[NDArray[np.int64], column("classes")]
    levels: Annotated[NDArray[np.int64], column("levels")]
    shortest: Annotated[NDArray[np.float64], column("nodes", "classes")]


def class_bounds(most: int) -> NDArray[np.int64]:
    """Return the most processors of each class, for jobs of at most ``most`` processors.

    The first :data:`PER_DOUBLING` classes have one number of processors each. From there on, this many classes of the
    same width lead to twice as many processors. Powers of two, which are common, are thus the largest of their class.

    >>> class_bounds(30).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 32]
    """
    bounds = np.arange(1, PER_DOUBLING + 1)
    while bounds[-1] < most:
        width = bounds[-1] // PER_DOUBLING
        bounds = np.append(bounds, bounds[-1] + width * np.arange(1, PER_DOUBLING + 1))
    return bounds.astype(np.int64)


def level_starts(positions: int) -> tuple[NDArray[np.int64], int]:
    """Return the number of the first node of each level for an array of ``positions``, and the number of nodes.

    >>> starts, nodes = level_starts(300)
    >>> starts.tolist(), nodes
    ([0, 19], 21)
    """
    starts, nodes, size = [0], 0, positions // FAN + 1
    while size > FAN:
        nodes += size
        starts.append(nodes)
        size = (size - 1) // FAN + 1
    return np.array(starts, np.int64), nodes + size


@inlined
def class_of(bounds, procs):
    """Return the first class that has jobs of ``procs`` processors or more; the last class if there is none."""
    least = np.int64(max(procs - 1, 0))
    if least >= PER_DOUBLING:
        least = interval_of(least, _BITS) - _BEFORE_FIRST
    return min(least, len(bounds) - 1)


class _Search(NamedTuple):
    """What a node must have so that a job in it may fit; see :func:`next_fit`.

    ``fitting``: the class of the free processors; ``sparing``: of the spare ones, -1 for none.
    """

    now: float
    time: float
    fitting: int
    sparing: int


@inlined
def _may_fit(shortest, node, search):
    """Return whether a node may have a job that fits."""
    least = shortest[index(node), index(search.fitting)]
    return least < np.inf and (
        search.now + least <= search.time
        or (search.sparing >= 0 and shortest[index(node), index(search.sparing)] < np.inf)
    )


@lean
def _renew_node(tree, level, node, last, search):
    """Renew the bounds of a node for the classes of a search from the nodes below, of which ``last`` is the last."""
    below, end = tree.levels[level - 1], min((node + 1) << FAN_BITS, last + 1)
    for each in (search.fitting, search.sparing):
        if each >= 0:
            least = np.inf
            for child in range(node << FAN_BITS, end):
                least = min(least, tree.shortest[index(below + child), index(each)])
            tree.shortest[tree.levels[level] + node, each] = least


@lean
def _next_leaf(tree, leaf, last, search):
    """Return the first leaf from ``leaf`` to ``last`` that may have a job that fits; ``last + 1`` if there is none."""
    levels, shortest = tree.levels, tree.shortest
    level, node, descended = 0, leaf, 0
    while node <= last >> (FAN_BITS * level):
        if node % FAN == 0 and descended == 0 and level + 1 < len(levels):
            # The first of several nodes: test them all at once.
            level, node = level + 1, node >> FAN_BITS
        elif _may_fit(shortest, levels[level] + node, search):
            if level == 0:
                return node
            level, node, descended = level - 1, node << FAN_BITS, 1
        else:
            node += 1
            if descended != 0 and (node % FAN == 0 or node > last >> (FAN_BITS * level)):
                _renew_node(tree, level + 1, (node - 1) >> FAN_BITS, last >> (FAN_BITS * level), search)
                descended = 0
    return last + 1


@inlined
def _fits(view, row, free, time, spare):
    procs = view.procs[index(row)]
    return procs <= free and (view.now + view.request[index(row)] <= time or procs <= spare)


@lean
def _next_by_index(view, tree, position, free, time, spare):
    queue, first, size = view.queue, tree.first, len(view.queue)
    narrow = min(free, spare)
    sparing = class_of(tree.bounds, narrow) if narrow > 0 else -1
    search = _Search(view.now, time, class_of(tree.bounds, free), sparing)
    leaf, last = (first + position) >> FAN_BITS, (first + size - 1) >> FAN_BITS
    while position < size:
        leaf = _next_leaf(tree, leaf, last, search)
        position = max(position, (leaf << FAN_BITS) - first)
        end = min(size, ((leaf + 1) << FAN_BITS) - first)
        while position < end:
            row = queue[index(position)]
            if row != HOLE and _fits(view, row, free, time, spare):
                return position
            position += 1
        leaf += 1
    return size


@inlined
def next_fit(view, tree, position, free, time, spare):
    """Return the first position from ``position`` on whose job fits; the length of the queue if there is none.

    A job fits if it has at most ``free`` processors and either is expected to end by ``time``, s, or has at most
    ``spare`` processors. The time may be infinite, and ``spare`` negative. ``tree`` is a :class:`QueueIndex`, or None
    for a queue without holes.
    """
    queue = view.queue
    if free <= 0:
        return len(queue)
    if tree is not None:
        return _next_by_index(view, tree, position, free, time, spare)
    while position < len(queue) and not _fits(view, queue[position], free, time, spare):
        position += 1
    return position


@inlined
def next_waiting(view, tree, position):
    """Return the first position from ``position`` on that is not a hole; the length of the queue if there is none."""
    if tree is not None:
        while position < len(view.queue) and view.queue[position] == HOLE:
            position += 1
    return position
