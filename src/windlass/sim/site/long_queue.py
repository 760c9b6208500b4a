"""The index of a site's queue while it is long, for a policy that finds jobs by it.

The index exists from :data:`_LONG` waiting jobs on, and until there are fewer than half of these. While it exists, jobs
leave holes in the queue, so that no other job has to move. The queue is compacted when it has more holes than jobs.
"""

from __future__ import annotations

import numpy as np

from windlass.jit import index, inlined, lean
from windlass.order.site.queue_index import FAN_BITS, HOLE, class_of

_LONG = 512


@inlined
def waiting_count(counts):
    """Return the number of waiting jobs."""
    return counts.queue_tail - counts.queue_head - counts.holes


@lean
def _add_to_index(site, place):
    """Enter the job at a place of the queue's array in the index; places are entered in order."""
    row = site.queue[place]
    first, request = class_of(site.bounds, site.procs[row]), site.request[row]
    for level in range(len(site.levels)):
        bits = FAN_BITS * (level + 1)
        node = site.levels[level] + (place >> bits)
        if place == (place >> bits) << bits:
            _clear(site, node)
        changed = False
        for each in range(first, len(site.bounds)):
            bound = site.shortest[index(node), index(each)]
            changed |= bound > request
            site.shortest[index(node), index(each)] = min(bound, request)
        # No bound of a higher level is above one of this level.
        if not changed:
            return


@lean
def _clear(site, node):
    """Start a node without jobs."""
    for each in range(len(site.bounds)):
        site.shortest[index(node), index(each)] = np.inf


@lean
def _make_hole(site, place):
    """Take the job at a place of the queue's array from the queue, and renew the bounds of its leaf."""
    row, leaf, bounds, shortest = site.queue[place], place >> FAN_BITS, site.bounds, site.shortest
    site.queue[place] = HOLE
    first, request = class_of(bounds, site.procs[row]), site.request[row]
    last = first
    # Bounds of a leaf are exact, and do not increase with the class. Only those equal to the request may change.
    while last < len(bounds) and shortest[leaf, last] == request:
        shortest[leaf, last] = shortest[leaf, first - 1] if first > 0 else np.inf
        last += 1
    if last == first:
        return
    narrower = bounds[first - 1] if first > 0 else 0
    start, end = leaf << FAN_BITS, (leaf + 1) << FAN_BITS
    for other in range(max(start, site.counts[0].queue_head), min(end, site.counts[0].queue_tail)):
        row = site.queue[other]
        if row != HOLE and narrower < site.procs[row] <= bounds[last - 1]:
            each, request = class_of(bounds, site.procs[row]), site.request[row]
            while each < last and shortest[leaf, each] > request:
                shortest[leaf, each] = request
                each += 1


@lean
def compact(site, start):
    """Move the waiting jobs together, to ``start`` in the queue's array; the index is invalid then."""
    counts, target = site.counts[0], start
    # It counts holes.
    counts.settled = 0
    for place in range(counts.queue_head, counts.queue_tail):
        if site.queue[place] != HOLE:
            site.queue[target] = site.queue[place]
            target += 1
    counts.queue_head, counts.queue_tail, counts.holes = start, target, 0


@lean
def make_index(site):
    """Make the index of the present queue, which has no holes."""
    counts = site.counts[0]
    counts.indexed = 1
    for level in range(len(site.levels)):
        _clear(site, site.levels[level] + (counts.queue_head >> (FAN_BITS * (level + 1))))
    for place in range(counts.queue_head, counts.queue_tail):
        _add_to_index(site, place)


@inlined
def index_last(site):
    """Enter the last job of the queue in the index; make the index if the policy uses one and the queue is now long."""
    counts = site.counts[0]
    if counts.indexed != 0:
        _add_to_index(site, counts.queue_tail - 1)
    elif len(site.bounds) > 0 and counts.queue_tail - counts.queue_head >= _LONG:
        make_index(site)


@lean
def leave_holes(site, chosen):
    """Remove the chosen positions of an indexed queue, ascending."""
    counts = site.counts[0]
    head = counts.queue_head
    for position in chosen:
        _make_hole(site, head + position)
    counts.holes += len(chosen)
    while head < counts.queue_tail and site.queue[head] == HOLE:
        head += 1
        counts.holes -= 1
    counts.queue_head = head
    waiting = waiting_count(counts)
    if 2 * waiting < _LONG:
        compact(site, head)
        counts.indexed = 0
    elif counts.holes > waiting:
        compact(site, head)
        make_index(site)
