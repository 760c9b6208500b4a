"""A binary heap of events, earliest first, ties by sequence number.

An event is a time, a sequence number, a kind and an item; the part defines what kind and item mean. The arrays are
allocated once, as the part knows how many events can be pending.
"""

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import inlined
from windlass.jit.schema import Scalars, allocate, column, numba_type


class HeapCounts(Scalars):
    """``size``: pending events. ``sequence``: the number that the next event gets."""

    size: int
    sequence: int


class Heap(NamedTuple):
    """Pending events, as arrays of one capacity, and their counts."""

    time: Annotated[NDArray[np.float64], column("events", fill=None)]
    sequence: Annotated[NDArray[np.int64], column("events", fill=None)]
    kind: Annotated[NDArray[np.int64], column("events", fill=None)]
    item: Annotated[NDArray[np.int64], column("events", fill=None)]
    counts: Annotated[NDArray[np.void], HeapCounts]


HEAP = numba_type(Heap)


def make_heap(capacity: int) -> Heap:
    """Return an empty heap for at most ``capacity`` pending events.

    >>> len(make_heap(3).time)
    3
    """
    return allocate(Heap, {"events": capacity})


@inlined
def next_time(heap):
    """Return the time of the next event (s); infinity if none is pending."""
    return heap.time[0] if heap.counts[0].size > 0 else np.inf


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
    counts = heap.counts[0]
    slot, sequence = counts.size, counts.sequence
    counts.size += 1
    counts.sequence += 1
    while slot > 0:
        parent = (slot - 1) >> 1
        if _before(heap, parent, time, sequence):
            break
        _copy(heap, slot, parent)
        slot = parent
    _put(heap, slot, time, sequence, kind, item)


@inlined
def _sink(heap, slot, size, time, sequence):
    """Move earlier events up from below a free place, until an event of this time fits; return the place."""
    while True:
        child = 2 * slot + 1
        if child >= size:
            break
        if child + 1 < size and _before(heap, child + 1, heap.time[child], heap.sequence[child]):
            child += 1
        if not _before(heap, child, time, sequence):
            break
        _copy(heap, slot, child)
        slot = child
    return slot


@inlined
def remove(heap, item):
    """Remove the first pending event of an item; there must be one. Takes time in proportion to all events."""
    counts = heap.counts[0]
    counts.size -= 1
    last = counts.size
    time, sequence = heap.time[last], heap.sequence[last]
    kind, own = heap.kind[last], heap.item[last]
    slot = 0
    while heap.item[slot] != item:
        slot += 1
    # The last event takes the free place, and goes up or down from there.
    while slot > 0 and not _before(heap, (slot - 1) >> 1, time, sequence):
        _copy(heap, slot, (slot - 1) >> 1)
        slot = (slot - 1) >> 1
    _put(heap, _sink(heap, slot, last, time, sequence), time, sequence, kind, own)


@inlined
def pop(heap):
    """Remove the next event and return its time, kind and item. The heap must not be empty."""
    first = heap.time[0], heap.kind[0], heap.item[0]
    counts = heap.counts[0]
    counts.size -= 1
    last = counts.size
    time, sequence = heap.time[last], heap.sequence[last]
    slot = _sink(heap, 0, last, time, sequence)
    _put(heap, slot, time, sequence, heap.kind[last], heap.item[last])
    return first
