"""Stable sorting of many numbers by the intervals that they are in."""

import numpy as np

from windlass.jit import allocating, inlined, lean
from windlass.jit.float_bits import ascending

#: Below this length, sorting by comparison is as fast.
_SHORT = 24
#: Moves per number from which on the intervals are too crowded, and the numbers are sorted by comparison.
_PATIENCE = 16
#: Integers to which infinity and NaN are mapped.
_INFINITY = np.int64(np.float64(np.inf).view(np.int64))
_NAN = np.int64((1 << 63) - 1)


@inlined
def _ascending(number):
    """Map a number to an integer that grows with it; NaN is mapped to the largest of all."""
    # Adding 0 makes -0 equal to 0.
    bits = np.float64(number + 0.0).view(np.int64)
    return _NAN if np.isnan(number) else ascending(bits)


@allocating
def _keys_of(numbers):
    """Return numbers as integers, the least of these, and the greatest of those below infinity, at least the least."""
    keys = np.empty(len(numbers), np.int64)
    least, most = _INFINITY, -_INFINITY
    for place in range(len(numbers)):
        key = _ascending(numbers[place])
        keys[place] = key
        least = min(least, key)
        if key < _INFINITY:
            most = max(most, key)
    return keys, least, max(least, most)


@allocating
def _by_interval(keys, least, most):
    """Return the positions of keys by the intervals that they are in; those of one interval keep their order."""
    size = len(keys)
    # As an unsigned number, because the difference of two keys may exceed the largest signed one.
    shift, span = np.uint64(0), np.uint64(most - least)
    while span >> shift >= np.uint64(2 * size):
        shift += np.uint64(1)
    last = np.int64(span >> shift) + 1
    # Number of keys in the intervals before; once these are distributed, the end of the interval.
    ends, interval = np.zeros(last + 2, np.int64), np.empty(size, np.int32)
    for place in range(size):
        key = keys[place]
        interval[place] = np.int64(np.uint64(key - least) >> shift) if key < _INFINITY else last
        ends[interval[place] + 1] += 1
    for each in range(last):
        ends[each + 1] += ends[each]
    places = np.empty(size, np.int64)
    for place in range(size):
        each = interval[place]
        places[ends[each]] = place
        ends[each] += 1
    return places


@lean
def _insert_each(keys, places, moves):
    """Sort places by their keys, and return whether at most ``moves`` moves were enough."""
    for each in range(1, len(places)):
        place, slot = places[each], each
        key = keys[place]
        while slot > 0 and keys[places[slot - 1]] > key:
            places[slot] = places[slot - 1]
            slot -= 1
        places[slot] = place
        moves -= each - slot
        if moves < 0:
            return False
    return True


@allocating
def sorted_places(numbers):
    """Return the positions of floating-point numbers in ascending order; equal ones keep their order, NaN is last.

    The range of the numbers is divided into once or twice as many intervals as there are numbers. If the numbers are
    spread over their range, most intervals have few, and one pass of insertions sorts them all.
    """
    size = len(numbers)
    if size >= _SHORT:
        keys, least, most = _keys_of(numbers)
        places = _by_interval(keys, least, most)
        if _insert_each(keys, places, _PATIENCE * size):
            return places
    return np.argsort(numbers, kind="mergesort")
