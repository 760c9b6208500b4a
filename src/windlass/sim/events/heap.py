"""What happens next: a binary heap of events, earliest first, ties by sequence number.

An event is a time, the order in which it was pushed, a kind and an item; what kind and item mean is the
part's affair. The arrays are allocated once: the part knows how many events can be pending.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import inlined

_SIZE, _NEXT = 0, 1


class Heap(NamedTuple):
    """Pending events, as arrays of one capacity, and counts (entries in use, next sequence number)."""

    time: NDArray[np.float64]
    sequence: NDArray[np.int64]
    kind: NDArray[np.int64]
    item: NDArray[np.int64]
    counts: NDArray[np.int64]


HEAP = types.NamedTuple(
    (types.float64[::1], types.int64[::1], types.int64[::1], types.int64[::1], types.int64[::1]), Heap
)


def make_heap(capacity: int) -> Heap:
    """An empty heap for at most ``capacity`` pending events.

    >>> len(make_heap(3).time)
    3
    """
    sequence, kind, item = np.empty((3, capacity), np.int64)
    return Heap(np.empty(capacity), sequence, kind, item, np.zeros(2, np.int64))


@inlined
def next_time(heap):
    """When the next event happens, s; infinity where none is pending."""
    return heap.time[0] if heap.counts[_SIZE] > 0 else np.inf


@inlined
def _put(heap, slot, time, sequence, kind, item):
    heap.time[slot] = time
    heap.sequence[slot] = sequence
    heap.kind[slot] = kind
    heap.item[slot] = item


@inlined
def _copy(heap, target, source):
    _put(heap, target, heap.time[source], heap.sequence[source], heap.kind[source], heap.item[source])


@inlined
def _before(heap, slot, time, sequence):
    other = heap.time[slot]
    return other < time or (other == time and heap.sequence[slot] < sequence)


@inlined
def push(heap, time, kind, item):
    """Add an event."""
    slot = heap.counts[_SIZE]
    sequence = heap.counts[_NEXT]
    heap.counts[_SIZE] += 1
    heap.counts[_NEXT] += 1
    while slot > 0:
        parent = (slot - 1) >> 1
        if _before(heap, parent, time, sequence):
            break
        _copy(heap, slot, parent)
        slot = parent
    _put(heap, slot, time, sequence, kind, item)


@inlined
def pop(heap):
    """Take the next event: its time, kind and item. The heap must not be empty."""
    first = heap.time[0], heap.kind[0], heap.item[0]
    heap.counts[_SIZE] -= 1
    last = heap.counts[_SIZE]
    time, sequence = heap.time[last], heap.sequence[last]
    slot = 0
    while True:
        child = 2 * slot + 1
        if child >= last:
            break
        if child + 1 < last and _before(heap, child + 1, heap.time[child], heap.sequence[child]):
            child += 1
        if not _before(heap, child, time, sequence):
            break
        _copy(heap, slot, child)
        slot = child
    _put(heap, slot, time, sequence, heap.kind[last], heap.item[last])
    return first
