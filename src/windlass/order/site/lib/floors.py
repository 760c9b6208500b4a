"""Times before which no job of a kind fits, so that a search for many jobs does not start over for each.

If a job does not fit before a time, no wider or longer job does. Jobs are therefore divided into *kinds* by processors
and requested time. The *floor* of a kind is a time before which not even its least job fits, one of as few processors
and seconds as any in the kind.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import allocating, inlined, lean
from windlass.jit.float_bits import interval_of, least_of
from windlass.order.site.lib.timeline import earliest_before, earliest_between

#: Blocks of a timeline that one search may read before the floor of its kind is renewed.
_PATIENCE = 2
#: Powers of two that are divided into kinds of requested times, from 1 s on.
_DOUBLINGS = 31
_EPSILON = 4.0 * float(np.finfo(np.float64).eps)
#: Number of jobs from which on there are more kinds.
_MANY = 4096


class Kinds(NamedTuple):
    """Kinds of jobs, and the floor of each.

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
    """

    starts: NDArray[np.float64]
    counted: NDArray[np.int64]
    widths: NDArray[np.int64]
    durations: NDArray[np.float64]
    bits: int


class Floors(NamedTuple):
    """The floors of all kinds.

    Parameters
    ----------
    fine, coarse
        Many kinds of similar jobs, and few. A job is not searched for below either of its floors.
    releases
        (n,) times from which processors were released, s, ascending: those that precede all later ones.
    numbers
        (n,) how many releases there were up to each.
    sizes
        (2,) number of all releases, and number of those listed.
    """

    fine: Kinds
    coarse: Kinds
    releases: NDArray[np.float64]
    numbers: NDArray[np.int64]
    sizes: NDArray[np.int64]


@allocating
def _make_kinds(processors, bits):
    """Return kinds of jobs of up to ``processors``, with no floor known yet."""
    wide, long = interval_of(processors, bits) + 1, 1 + (_DOUBLINGS << bits)
    widths, durations = np.empty(wide, np.int64), np.zeros(long)
    for kind in range(wide):
        widths[kind] = np.ceil(least_of(kind, bits))
    for kind in range(1, long):
        durations[kind] = least_of(kind - 1, bits)
    return Kinds(np.full((wide, long), -np.inf), np.zeros((wide, long), np.int64), widths, durations, bits)


@allocating
def make_floors(processors, jobs):
    """Return floors for a number of jobs of up to ``processors``, none of which is known yet."""
    fine = _make_kinds(processors, 1 if jobs < _MANY else 3)
    coarse = _make_kinds(processors, 0 if jobs < _MANY else 1)
    releases, numbers, sizes = np.empty(jobs + 1), np.empty(jobs + 1, np.int64), np.zeros(2, np.int64)
    return Floors(fine, coarse, releases, numbers, sizes)


@inlined
def _time_before(time, duration):
    """Return a time from which a job of this duration ends by ``time``, and not much earlier, in spite of rounding."""
    return time - duration - _EPSILON * (abs(time) + duration) if time < np.inf else time


@lean
def _lowered(floors, kinds, wide, long):
    """Return the floor of a kind after the releases that it does not take into account yet."""
    floor = kinds.starts[wide, long]
    low, high = 0, floors.sizes[1]
    # The first release in the list since then is the earliest of all since then.
    while low < high:
        middle = (low + high) >> 1
        if floors.numbers[middle] <= kinds.counted[wide, long]:
            low = middle + 1
        else:
            high = middle
    if low < floors.sizes[1]:
        # A job that fits only now runs at that time.
        floor = min(floor, _time_before(floors.releases[low], kinds.durations[long]))
    kinds.starts[wide, long], kinds.counted[wide, long] = floor, floors.sizes[0]
    return floor


@inlined
def _kinds_of(kinds, procs, duration):
    """Return the kind of a job, by processors and by requested time."""
    wide = min(interval_of(procs, kinds.bits), len(kinds.widths) - 1)
    long = min(interval_of(duration, kinds.bits) + 1, len(kinds.durations) - 1) if duration >= 1.0 else 0
    return wide, long


@inlined
def _floor_of(floors, kinds, wide, long):
    """Return the floor of a kind, as of now."""
    if kinds.starts[wide, long] > -np.inf and kinds.counted[wide, long] < floors.sizes[0]:
        return _lowered(floors, kinds, wide, long)
    return kinds.starts[wide, long]


@lean
def _raise_floor(floors, kinds, line, wide, long, before, limit, floor):
    """Raise the floor of a kind to the first time, from ``floor`` on, at which its least job fits."""
    least, _ = earliest_between(line, kinds.widths[wide], kinds.durations[long], before, limit, floor)
    kinds.starts[wide, long] = max(kinds.starts[wide, long], min(least, limit))
    kinds.counted[wide, long] = floors.sizes[0]


@lean
def earliest_above(floors, line, procs, duration, before, limit, ascending):
    """Return what :func:`~windlass.order.site.lib.timeline.earliest_before` does, without the times below a floor.

    Floors hold as long as processors are released only where :func:`lower_floors` is called. If ``before`` is
    ``ascending`` from call to call, they may also be released from each call's ``before`` on, without it.
    """
    if procs < 1:
        # A live view may have a job without processors, which fits where no kind does.
        return earliest_before(line, procs, duration, before, limit)
    # What blocks a job below a floor may be later than ``before``, where the job needs no free processors.
    most = np.inf if ascending else _time_before(before, duration)
    wide, long = _kinds_of(floors.fine, procs, duration)
    known = min(most, _floor_of(floors, floors.fine, wide, long))
    if known >= before or known >= limit:
        return before
    much_wide, much_long = _kinds_of(floors.coarse, procs, duration)
    rough = min(most, _floor_of(floors, floors.coarse, much_wide, much_long))
    floor = max(known, rough)
    if floor >= before or floor >= limit:
        return before
    _raise_floor(floors, floors.coarse, line, much_wide, much_long, before, limit, rough)
    floor = max(floor, min(most, floors.coarse.starts[much_wide, much_long]))
    if floor >= before or floor >= limit:
        return before
    at, read = earliest_between(line, procs, duration, before, limit, floor)
    if read > _PATIENCE:
        _raise_floor(floors, floors.fine, line, wide, long, at, limit, floor)
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
