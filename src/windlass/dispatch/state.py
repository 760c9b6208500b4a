"""A dispatch policy's state: two flat arrays with named places, shared by compiled code and by its class.

``ints`` and ``floats`` begin with a header that every policy has and that engines may read; then come lists. Two
arrays because an array costs 0.1 to 0.3 µs to hand from Python to compiled code, and one dispatch decision may cost
2 µs.

==============  =====  =============================================  ===================  =====================
in ``ints``     place  what it is                                     written by           read by
==============  =====  =============================================  ===================  =====================
``RNG``         0      random stream: a word of 64 bits               ``draw``, ``split``  ``draw``
``WORKERS``     1      workers, present or not (n)                    ``make_state``       all
``PRESENT``     2      workers that are present                       ``change_members``   all
``LISTENS``     3      1 if it is told of completions, else 0         its class            simulator
``TOLD``        4      1 if it is told of true rates, else 0          its class            simulator
``GAPS``        5      gaps that an arrival rate is over; 0: none     ``make_state``       ``arrival_rate``
``ARRIVED``     6      tasks that arrived                             ``arrived``          ``arrival_rate``, ucb
``RATES_AT``    7      place of worker 0's rate in ``floats``, or -1  its class            all that have rates
``COPIES``      8      reservations per task; 0: binds at once        its class            engines
``DIRTY``       9      1 if the table of rates is out of date         who alters rates     who samples
``OWN_INT``     10     first of 14 numbers of its own                 policy               policy
``MEMBERS_AT``  24     first of the lists, see below                  ``change_members``   ``member``
==============  =====  =============================================  ===================  =====================

==================  =====  ============================================  =============  =======
in ``floats``       place  what it is                                    written by     read by
==================  =====  ============================================  =============  =======
``NOW``             0      clock, s                                      ``arrived``    policy
``BENCHMARK_AT``    1      when a benchmark task is due, s, or infinity  ``benchmark``  engines
``BENCHMARK_WORK``  2      its work, in the unit of completions          ``benchmark``  engines
``OWN_FLOAT``       3      first of 21 numbers of its own                policy         policy
``VALUES_AT``       24     first of the lists, see below                 policy         policy
==================  =====  ============================================  =============  =======

Lists in ``ints``: n, the present workers, in no order; n, each worker's place in that list, or -1; from
:func:`own_ints` on, which is ``MEMBERS_AT`` + 2n, the policy's own. Lists in ``floats``: the policy's own, from
``VALUES_AT`` on, n rates in work/s before all else where it has rates; at the very end, where it asks for an arrival
rate, the times of the last ``GAPS`` + 1 arrivals, s, the k-th at k modulo their number.

What ``changed`` is told:

==========  ====  ============================
told        code  what
==========  ====  ============================
``LEFT``    0     a worker is gone
``JOINED``  1     a worker is back
``RATE``    2     a worker's true rate, work/s
==========  ====  ============================

The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
2014), one word of state seeded from the NumPy generator that the policy was given: a draw costs two nanoseconds,
and the stream is the same whether the simulator or a live engine asks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.jit import helper, inlined
from windlass.model import InputError
from windlass.model.values import whole

# Places in ``ints`` and ``floats``; the legend is above.
RNG = 0
WORKERS = 1
PRESENT = 2
LISTENS = 3
TOLD = 4
GAPS = 5
ARRIVED = 6
RATES_AT = 7
COPIES = 8
DIRTY = 9
OWN_INT = 10
MEMBERS_AT = 24

NOW = 0
BENCHMARK_AT = 1
BENCHMARK_WORK = 2
OWN_FLOAT = 3
VALUES_AT = 24

#: What a policy's ``changed`` can be told.
LEFT, JOINED, RATE = range(3)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@inlined
def draw(ints):
    """The next 64 random bits, unsigned."""
    state = np.uint64(ints[RNG]) + _GOLDEN
    ints[RNG] = np.int64(state)
    state = (state ^ (state >> _S30)) * _MIX_1
    state = (state ^ (state >> _S27)) * _MIX_2
    return state ^ (state >> _S31)


@inlined
def below(bits, count):
    """An integer in [0, count) from the upper 32 random bits; count is below 2**31."""
    return np.int64(((bits >> _S32) * np.uint64(count)) >> _S32)


@inlined
def low_half(bits):
    """The lower 32 random bits, which :func:`below` leaves unused."""
    return np.int64(bits & _LOW)


@inlined
def unit(bits):
    """A number in (0, 1], so that its logarithm is finite."""
    return (np.float64(bits >> np.uint64(11)) + 1.0) * (1.0 / 9007199254740992.0)


@inlined
def member(ints, index):
    """The present worker at a place in the list."""
    return ints[MEMBERS_AT + index]


@inlined
def is_present(ints, worker):
    """Whether the worker is there."""
    return ints[MEMBERS_AT + ints[WORKERS] + worker] >= 0


@inlined
def own_ints(ints):
    """Where in ``ints`` a policy's own lists begin."""
    return MEMBERS_AT + 2 * ints[WORKERS]


@inlined
def arrived(now, ints, floats):
    """Set the clock; remember when the last S tasks came, where the policy estimates the arrival rate."""
    if now > floats[NOW]:
        floats[NOW] = now
    gaps = ints[GAPS]
    if gaps > 0:
        ring = len(floats) - gaps - 1
        floats[ring + ints[ARRIVED] % (gaps + 1)] = now
    ints[ARRIVED] += 1


@inlined
def arrival_rate(ints, floats):
    """One over the mean of the last S gaps between arrivals, tasks/s; 0 before the second, infinity without a gap."""
    gaps, count = ints[GAPS], ints[ARRIVED]
    ring = len(floats) - gaps - 1
    used = min(gaps, count - 1)
    rate = 0.0
    if used > 0:
        span = floats[ring + (count - 1) % (gaps + 1)] - floats[ring + (count - 1 - used) % (gaps + 1)]
        rate = used / span if span > 0.0 else np.inf
    return rate


@inlined
def drop_member(ints, worker):
    """Take a worker off the list of present ones; the last takes its place there."""
    places = MEMBERS_AT + ints[WORKERS]
    place = ints[places + worker]
    if place >= 0:
        last = ints[PRESENT] - 1
        moved = ints[MEMBERS_AT + last]
        ints[MEMBERS_AT + place] = moved
        ints[places + moved] = place
        ints[places + worker] = -1
        ints[PRESENT] = last


@inlined
def add_member(ints, worker):
    """Put a worker on the list of present ones."""
    places = MEMBERS_AT + ints[WORKERS]
    if ints[places + worker] < 0:
        ints[MEMBERS_AT + ints[PRESENT]] = worker
        ints[places + worker] = ints[PRESENT]
        ints[PRESENT] += 1


@helper
def change_members(kind, worker, ints):
    """Take in that a worker left or joined; its table of rates, if any, is to be made anew."""
    if kind == LEFT:
        drop_member(ints, worker)
    elif kind == JOINED:
        add_member(ints, worker)
    ints[DIRTY] = 1


def make_state(
    workers: int, rng: np.random.Generator | None, ints: int = 0, floats: int = 0, gaps: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The two arrays, with a header, all workers present, and room for the policy's own.

    Parameters
    ----------
    workers
        How many there are.
    rng
        Gives the first word of the policy's stream; None for a policy that draws nothing.
    ints, floats
        How many of each the policy keeps besides.
    gaps
        Over how many gaps between arrivals a rate is estimated; 0 for none.

    Raises
    ------
    InputError
        Fewer than one worker, or too many for 32-bit draws.

    Examples
    --------
    >>> ints, floats = make_state(3, None)
    >>> int(ints[PRESENT]), float(floats[BENCHMARK_AT])
    (3, inf)
    """
    count = whole("workers", workers, 1)
    if count >= 2**31:
        raise InputError(f"workers is {workers}, expected fewer than 2**31")
    all_ints = np.zeros(MEMBERS_AT + 2 * count + ints, np.int64)
    all_floats = np.zeros(VALUES_AT + floats + (gaps + 1 if gaps else 0))
    if rng is not None:
        all_ints[RNG] = rng.integers(-(2**63), 2**63 - 1)
    all_ints[WORKERS] = all_ints[PRESENT] = count
    all_ints[MEMBERS_AT : MEMBERS_AT + 2 * count] = np.tile(np.arange(count), 2)
    all_ints[GAPS] = gaps
    all_ints[RATES_AT] = -1
    all_floats[BENCHMARK_AT] = np.inf
    return all_ints, all_floats
