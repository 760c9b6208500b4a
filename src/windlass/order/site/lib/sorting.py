"""Stable sorting of many numbers, by their digits."""

import numpy as np

from windlass.jit import allocating

#: Below this length, sorting by comparison is as fast.
_SHORT = 1024
#: Bits of a digit, of which 64 bits have six.
_DIGIT_BITS = 11
_DIGITS = 6
_VALUES = 1 << _DIGIT_BITS
_SIGN = np.uint64(1 << 63)
_LAST = np.uint64((1 << 64) - 1)


@allocating
def _by_digits(numbers):
    """Return the positions of numbers, sorted digit by digit, the lowest digit first.

    The bits of a positive float ascend with its value, those of a negative one descend.
    """
    size = len(numbers)
    # Adding 0 makes -0 equal to 0.
    bits = (numbers + 0.0).view(np.uint64)
    counts = np.zeros((_DIGITS, _VALUES), np.int64)
    for place in range(size):
        own = bits[place]
        own = _LAST if np.isnan(numbers[place]) else ~own if own & _SIGN else own | _SIGN
        bits[place] = own
        for digit in range(_DIGITS):
            counts[digit, (own >> np.uint64(_DIGIT_BITS * digit)) & np.uint64(_VALUES - 1)] += 1
    places, other_bits, other_places = np.arange(size), np.empty_like(bits), np.empty(size, np.int64)
    for digit in range(_DIGITS):
        count, shift = counts[digit], np.uint64(_DIGIT_BITS * digit)
        if count[(bits[0] >> shift) & np.uint64(_VALUES - 1)] == size:
            # All numbers have the same digit. In whole seconds, this holds for most digits.
            continue
        first = 0
        for value in range(_VALUES):
            first, count[value] = first + count[value], first
        for place in range(size):
            value = (bits[place] >> shift) & np.uint64(_VALUES - 1)
            target = count[value]
            other_bits[target], other_places[target] = bits[place], places[place]
            count[value] = target + 1
        bits, other_bits, places, other_places = other_bits, bits, other_places, places
    return places


@allocating
def sorted_places(numbers):
    """Return the positions of floating-point numbers in ascending order; equal ones keep their order, NaN is last."""
    return np.argsort(numbers, kind="mergesort") if len(numbers) < _SHORT else _by_digits(numbers)
