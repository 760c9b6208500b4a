"""The state of a dispatch policy: two flat arrays with named places, used by compiled code and by the policy's class.

``ints`` and ``floats`` begin with a header that every policy has and that engines may read; lists follow.
There are only two arrays because passing one from Python to compiled code takes 0.1 to 0.3 µs, and a decision
should take at most 2 µs.

==============  =====  =============================================  ===================  =====================
in ``ints``     place  what it is                                     written by           read by
==============  =====  =============================================  ===================  =====================
``RNG``         0      random stream: a word of 64 bits               ``draw``, ``split``  ``draw``
``WORKERS``     1      workers, present or not (n)                    ``make_state``       all
``PRESENT``     2      workers that are present                       ``change_members``   all
``LISTENS``     3      1 if it uses completions, else 0               its class            simulator
``TRUE_RATES``  4      1 if it uses true rates, else 0                its class            simulator
``GAPS``        5      gaps of the arrival rate; 0: no rate           ``make_state``       ``arrival_rate``
``ARRIVED``     6      tasks that arrived                             ``arrived``          ``arrival_rate``, ucb
``RATES_AT``    7      place of worker 0's rate in ``floats``, or -1  its class            all that have rates
``COPIES``      8      reservations per task, 0, or ``CENTRAL``       its class            engines
``DIRTY``       9      1 if the table of rates is out of date         rate updates         samplers
``OWN_INT``     10     first of 13 numbers of its own                 policy               policy
``OFFERED``     23     workers that were offered tasks in this turn   engines, ``choose``  ``choose``
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

Lists in ``ints``: n present workers, in no order; n places of the workers in that list, or -1; from
:func:`own_ints` on, which is ``MEMBERS_AT`` + 2n, the policy's own. Lists in ``floats``: the policy's own,
from ``VALUES_AT`` on, with n rates in work/s first if it has rates; at the very end, if it uses an arrival
rate, the times of the last ``GAPS`` + 1 arrivals, s, the k-th at k modulo their number.

With 0 reservations, a task is sent to a worker when it arrives. With ``CENTRAL``, tasks wait with their schedulers.
``choose`` then names the workers to which an engine offers them, one with each call, and -1 after the last; an engine
sets ``OFFERED`` to 0 first.

Kinds of changes that ``changed`` receives:

==========  ====  ============================
kind        code  meaning
==========  ====  ============================
``LEFT``    0     a worker is gone
``JOINED``  1     a worker is back
``RATE``    2     a worker's true rate, work/s
==========  ====  ============================

The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
2014), with one word of state seeded from the policy's NumPy generator: a draw takes two nanoseconds, and the
stream is the same in the simulator and in a live engine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.jit import helper, inlined
from windlass.model import InputError
from windlass.model.values import whole

# Places in ``ints`` and ``floats``; see the tables above.
RNG = 0
WORKERS = 1
PRESENT = 2
LISTENS = 3
TRUE_RATES = 4
GAPS = 5
ARRIVED = 6
RATES_AT = 7
COPIES = 8
DIRTY = 9
OWN_INT = 10
OFFERED = 23
MEMBERS_AT = 24
#: In ``COPIES``: tasks wait with their schedulers.
CENTRAL = -1

NOW = 0
BENCHMARK_AT = 1
BENCHMARK_WORK = 2
OWN_FLOAT = 3
VALUES_AT = 24

#: Kinds of changes that a policy's ``changed`` receives.
LEFT, JOINED, RATE = range(3)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@inlined
def draw(ints):
    """Return the next 64 random bits, unsigned."""
    state = np.uint64(ints[RNG]) + _GOLDEN
    ints[RNG] = np.int64(state)
    state = (state ^ (state >> _S30)) * _MIX_1
    state = (state ^ (state >> _S27)) * _MIX_2
    return state ^ (state >> _S31)


@inlined
def below(bits, count):
    """Return an integer in [0, count) from the upper 32 random bits; count is below 2**31."""
    return np.int64(((bits >> _S32) * np.uint64(count)) >> _S32)


@inlined
def low_half(bits):
    """Return the lower 32 random bits, which :func:`below` leaves unused."""
    return np.int64(bits & _LOW)


@inlined
def unit(bits):
    """Return a number in (0, 1], so that its logarithm is finite."""
    return (np.float64(bits >> np.uint64(11)) + 1.0) * (1.0 / 9007199254740992.0)


@inlined
def member(ints, index):
    """Return the present worker at a place in the list."""
    return ints[MEMBERS_AT + index]


@inlined
def is_present(ints, worker):
    """Return whether the worker is present."""
    return ints[MEMBERS_AT + ints[WORKERS] + worker] >= 0


@inlined
def own_ints(ints):
    """Return where a policy's own lists begin in ``ints``."""
    return MEMBERS_AT + 2 * ints[WORKERS]


@inlined
def arrived(now, ints, floats):
    """Set the clock, and store the arrival time if the policy estimates the arrival rate."""
    if now > floats[NOW]:
        floats[NOW] = now
    gaps = ints[GAPS]
    if gaps > 0:
        ring = len(floats) - gaps - 1
        floats[ring + ints[ARRIVED] % (gaps + 1)] = now
    ints[ARRIVED] += 1


@inlined
def arrival_rate(ints, floats):
    """Return the inverse mean of the last S gaps, tasks/s; 0 before the second arrival, infinity without a gap."""
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
    """Remove a worker from the list of present ones; the last one takes its place."""
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
    """Add a worker to the list of present ones."""
    places = MEMBERS_AT + ints[WORKERS]
    if ints[places + worker] < 0:
        ints[MEMBERS_AT + ints[PRESENT]] = worker
        ints[places + worker] = ints[PRESENT]
        ints[PRESENT] += 1


@helper
def change_members(kind, worker, ints):
    """Update the list of present workers, and mark the table of rates as out of date."""
    if kind == LEFT:
        drop_member(ints, worker)
    elif kind == JOINED:
        add_member(ints, worker)
    ints[DIRTY] = 1


def make_state(
    workers: int, rng: np.random.Generator | None, ints: int = 0, floats: int = 0, gaps: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Make the two arrays, with a header, all workers present, and room for the policy's own lists.

    Parameters
    ----------
    workers
        Number of workers.
    rng
        Seeds the policy's stream; None for a policy that draws nothing.
    ints, floats
        Numbers of each for the policy's own lists.
    gaps
        Number of gaps between arrivals that a rate is estimated from; 0 for none.

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
