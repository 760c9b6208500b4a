"""Integers from the bits of floating-point numbers: ascending ones, and the intervals between powers of two."""

from __future__ import annotations

from typing import Any

import numpy as np

from windlass.jit import inlined

#: Bits of a float below its exponent.
_MANTISSA = 52
_ONE = np.float64(1.0).view(np.int64)
_ALL_BUT_SIGN = np.int64((1 << 63) - 1)


@inlined
def ascending(bits: Any) -> Any:
    """Map the bits of a number to an integer that grows with the number; applied twice, it returns the bits."""
    return bits ^ ((bits >> 63) & _ALL_BUT_SIGN)


@inlined
def interval_of(number: Any, bits: int) -> Any:
    """Return the interval that a number of at least 1 is in, from 0.

    The range between a power of two and the next is divided into ``2 ** bits`` intervals of the same length.
    """
    return (np.float64(number).view(np.int64) - _ONE) >> (_MANTISSA - bits)


@inlined
def least_of(interval: Any, bits: int) -> Any:
    """Return the least number of an interval of :func:`interval_of`."""
    return np.int64((np.int64(interval) << (_MANTISSA - bits)) + _ONE).view(np.float64)
