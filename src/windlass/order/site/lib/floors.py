"""Times before which no job of a kind fits, so that a search for many jobs does not start over for each.

If a job does not fit before a time, no wider or longer job does. Jobs are therefore divided into *kinds* by processors
and requested time. The *floor* of a kind is a time before which not even its least job fits, one of as few processors
and seconds as any in the kind.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import allocating, inlined, lean
from windlass.order.site.lib.timeline import earliest_before, earliest_between

#: Blocks of a timeline that one search may read before the floor of its kind is renewed.
_PATIENCE = 2
#: Bits of a float below its exponent.
_MANTISSA = 52
_BITS_OF_ONE = np.float64(1.0).view(np.int64)
#: Powers of two that are divided into kinds of requested times, from 1 s on.
_DOUBLINGS = 31
_EPSILON = 4.0 * float(np.finfo(np.float64).eps)
#: Number of jobs from which on there are more kinds.
_MANY = 4096


class Floors(NamedTuple):
    """The floors of all kinds.

    Parameters
    ----------
    starts
        (w, d) floor of each kind, s; minus infinity if none is known.
    counted
        (w, d) number of releases that each floor takes into account.
    widths
        (w,) least processors of a kind.
    durations
        (d,) least requested time of a kind, s.
    bits
        Bits by which the kinds between a number and twice that number are divided.
    releases
        (n,) times from which processors were released, s, ascending: those that precede all later ones.
    numbers
        (n,) how many releases there were up to each.
    sizes
        (2,) number of all releases, and number of those listed.
    """

    starts: NDArray[np.float64]
    counted: NDArray[np.int64]
    widths: NDArray[np.int64]
    durations: NDArray[np.float64]
    bits: int
    releases: NDArray[np.float64]
    numbers: NDArray[np.int64]
    sizes: NDArray[np.int64]


@inlined
def _kind_of(number, bits):
    """Return the kind of a number of at least 1, from 0."""
    return (np.float64(number).view(np.int64) - _BITS_OF_ONE) >> (_MANTISSA - bits)


@inlined
def _least_of(kind, bits):
    """Return the least number of a kind."""
    return np.int64((np.int64(kind) << (_MANTISSA - bits)) + _BITS_OF_ONE).view(np.float64)


@allocating
def make_floors(processors, jobs):
    """Return floors for a number of jobs of up to ``processors``, none of which is known yet."""
    bits = 1 if jobs < _MANY else 3
    wide, long = _kind_of(processors, bits) + 1, 1 + (_DOUBLINGS << bits)
    starts, counted = np.full((wide, long), -np.inf), np.zeros((wide, long), np.int64)
    widths, durations = np.empty(wide, np.int64), np.zeros(long)
    for kind in range(wide):
        widths[kind] = np.ceil(_least_of(kind, bits))
    for kind in range(1, long):
        durations[kind] = _least_of(kind - 1, bits)
    releases, numbers, sizes = np.empty(jobs + 1), np.empty(jobs + 1, np.int64), np.zeros(2, np.int64)
    return Floors(starts, counted, widths, durations, bits, releases, numbers, sizes)


@inlined
def _time_before(time, duration):
    """Return a time from which a job of this duration ends by ``time``, and not much earlier, in spite of rounding."""
    return time - duration - _EPSILON * (abs(time) + duration) if time < np.inf else time


@lean
def _lowered(floors, wide, long):
    """Return the floor of a kind after the releases that it does not take into account yet."""
    floor = floors.starts[wide, long]
    low, high = 0, floors.sizes[1]
    # The first release in the list since then is the earliest of all since then.
    while low < high:
        middle = (low + high) >> 1
        if floors.numbers[middle] <= floors.counted[wide, long]:
            low = middle + 1
        else:
            high = middle
    if low < floors.sizes[1]:
        # A job that fits only now runs at that time.
        floor = min(floor, _time_before(floors.releases[low], floors.durations[long]))
    floors.starts[wide, long], floors.counted[wide, long] = floor, floors.sizes[0]
    return floor


@lean
def earliest_above(floors, line, procs, duration, before, limit, ascending):
    """Return what :func:`~windlass.order.site.lib.timeline.earliest_before` does, without the times below a floor.

    Floors hold as long as processors are released only where :func:`lower_floors` is called. If ``before`` is
    ``ascending`` from call to call, they may also be released from each call's ``before`` on, without it.
    """
    if procs < 1:
        # A live view may have a job without processors, which fits where no kind does.
        return earliest_before(line, procs, duration, before, limit)
    wide = min(_kind_of(procs, floors.bits), len(floors.widths) - 1)
    long = min(_kind_of(duration, floors.bits) + 1, len(floors.durations) - 1) if duration >= 1.0 else 0
    known = floors.starts[wide, long]
    if known > -np.inf and floors.counted[wide, long] < floors.sizes[0]:
        known = _lowered(floors, wide, long)
    # What blocks a job below the floor may be later than ``before``, where the job needs no free processors.
    floor = known if ascending else min(known, _time_before(before, duration))
    if floor >= before or floor >= limit:
        return before
    at, read = earliest_between(line, procs, duration, before, limit, floor)
    if read > _PATIENCE:
        least, _ = earliest_between(line, floors.widths[wide], floors.durations[long], at, limit, floor)
        floors.starts[wide, long] = max(known, min(least, limit))
        floors.counted[wide, long] = floors.sizes[0]
    return at


@lean
def lower_floors(floors, released):
    """Lower the floors after processors were released from a time on, s."""
    total, listed = floors.sizes[0] + 1, floors.sizes[1]
    while listed > 0 and floors.releases[listed - 1] >= released:
        listed -= 1
    if listed == len(floors.releases):
        # There is no room: the last release counts as one of the present, which is later.
        listed -= 1
        released = floors.releases[listed]
    floors.releases[listed], floors.numbers[listed] = released, total
    floors.sizes[0], floors.sizes[1] = total, listed + 1
