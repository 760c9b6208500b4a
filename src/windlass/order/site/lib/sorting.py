"""Stable sorting of many numbers by the intervals that they are in."""

import numpy as np

from windlass.jit import allocating, index, inlined, lean
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
    """Return keys by the intervals that they are in, and their positions; those of one interval keep their order."""
    size = len(keys)
    # As an unsigned number, because the difference of two keys may exceed the largest signed one.
    shift, span = np.uint64(0), np.uint64(most - least)
    while span >> shift >= np.uint64(2 * size):
        shift += np.uint64(1)
    last = index(span >> shift) + index(1)
    # Number of keys in the intervals before; once these are distributed, the end of the interval.
    ends, interval = np.zeros(last + 2, np.int64), np.empty(size, np.uint32)
    for place in range(index(size)):
        key = keys[place]
        each = index(key - least) >> shift if key < _INFINITY else last
        interval[place] = each
        ends[each + index(1)] += 1
    for before in range(last):
        ends[before + index(1)] += ends[before]
    places, by_interval = np.empty(size, np.int64), np.empty(size, np.int64)
    for place in range(index(size)):
        each = index(interval[place])
        to = index(ends[each])
        places[to], by_interval[to] = place, keys[place]
        ends[each] += 1
    return by_interval, places


@lean
def _insert_each(keys, places, moves):
    """Sort keys, and places with them, and return whether at most ``moves`` moves were enough."""
    for each in range(index(1), index(len(places))):
        key, place, slot = keys[each], places[each], index(each)
        while slot > 0 and keys[slot - index(1)] > key:
            before = slot - index(1)
            keys[slot], places[slot] = keys[before], places[before]
            slot = before
        keys[slot], places[slot] = key, place
        moves -= np.int64(index(each) - slot)
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
        keys, places = _by_interval(keys, least, most)
        if _insert_each(keys, places, _PATIENCE * size):
            return places
    return np.argsort(numbers, kind="mergesort")
