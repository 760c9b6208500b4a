"""Rates of workers, learned from their last completions.

A worker's window holds its last L completions as blocks of L / 15 with running sums, so that the cost of a
completion does not depend on L. Up to L = 15 the window is exact; beyond that it covers L to L + L/15
completions. The rate is work divided by busy time; for tasks of work 1 it is the inverse of the paper's mean
time.

Places in addition to those of :mod:`windlass.dispatch.state`:

==============  =====  ==============================================  ===================  ===============
in ``ints``     place  what it is                                      written by           read by
==============  =====  ==============================================  ===================  ===============
``TICKS``       10     tasks since the last new estimates              ``choose``           ``choose``
``SIZES_SEEN``  11     real tasks that ended                           ``take_completion``  ``recent_size``
``BEGUN``       12     1 once the first task has arrived, else 0       ``refresh``          ``choose``
``BY_WAIT``     13     1: least wait of two, 0: shorter queue          its class            ``choose``
``PROBES``      14     workers drawn per task                          its class            ``choose``
==============  =====  ==============================================  ===================  ===============

================  =====  ==============================================  ======================  ======================
in ``floats``     place  what it is                                      written by              read by
================  =====  ==============================================  ======================  ======================
``GUARANTEED``    3      guaranteed throughput of all workers, work/s    its class, ``refresh``  ``take_load``
``PROBE_SHARE``   4      benchmark tasks per idle capacity               its class               ``schedule_benchmark``
``WINDOW_SCALE``  5      c₁ of the length of windows                     its class               ``take_load``
``MOST_LOAD``     6      maximum of the load                             its class               ``take_load``
``LOAD``          7      estimated load                                  ``take_load``           ``schedule_benchmark``
``EPSILON``       8      target accuracy of estimates                    ``take_load``           ``refresh``
``LENGTH``        9      completions in a window (L)                     ``take_load``           ``take_completion``
``CUT_OFF``       10     silence after which a worker counts as dead, s  ``take_load``           ``refresh``
``MEAN_WORK``     11     mean work of recent tasks                       ``take_completion``     ``take_load``
``LEARNT_SHARE``  12     guaranteed share of the observed; 0: given      its class               ``refresh``
``PART``          13     its share of all arrivals                       its class, ``split``    ``take_load``
================  =====  ==============================================  ======================  ======================

Lists in ``floats``: n rates, work/s; n windows, one per worker, and the blocks of each, which only this module reads
and writes; a ring with the work of the last real tasks that ended. The learner has no list in ``ints``. Windows are
stored apart from their blocks, as most completions use the window alone: those of 1,000 workers fit into a fast cache.

==================  =====  ==================================================================
in a window         place  what it is
==================  =====  ==================================================================
``_WORK``           0      work of all blocks
``_SECONDS``        1      busy time of all blocks, s
``_COUNT``          2      completions of all blocks
``_BLOCK_WORK``     3      work of the block that is being filled
``_BLOCK_SECONDS``  4      its busy time, s
``_BLOCK_COUNT``    5      its completions
``_BEGAN``          6      its start, s
``_FIRST``          7      index of the oldest block
``_USED``           8      number of blocks in use
``_PER_WINDOW``     9      numbers per window, without its blocks
``_BLOCK_BEGAN``    3      in a block: its start, s, after its work, seconds and completions,
                           which are at ``_WORK``, ``_SECONDS`` and ``_COUNT``
``_PER_BLOCK``      4      numbers per block
``_PER_RING``       64     numbers of all blocks of a window
``BLOCKS``          16     blocks per window
``WINDOW``          73     numbers per window and its blocks
``SIZES``           64     stored sizes of real tasks
==================  =====  ==================================================================

Source: Rosella, Section IV-C, Learner-aggregate.
"""

from __future__ import annotations

import math

from windlass.dispatch.state import (
    BENCHMARK_AT,
    DIRTY,
    NOW,
    OWN_FLOAT,
    OWN_INT,
    RATES_AT,
    WORKERS,
    arrival_rate,
    draw,
    is_present,
    unit,
)
from windlass.jit import helper, index, inlined

BLOCKS = 16
_WORK, _SECONDS, _COUNT, _BLOCK_WORK, _BLOCK_SECONDS, _BLOCK_COUNT, _BEGAN, _FIRST, _USED, _PER_WINDOW = (
    range(10)
)
_BLOCK_BEGAN, _PER_BLOCK = 3, 4
_PER_RING = _PER_BLOCK * BLOCKS
WINDOW = _PER_WINDOW + _PER_RING
SIZES = 64

TICKS, SIZES_SEEN, BEGUN, BY_WAIT, PROBES = range(OWN_INT, OWN_INT + 5)
(
    GUARANTEED,
    PROBE_SHARE,
    WINDOW_SCALE,
    MOST_LOAD,
    LOAD,
    EPSILON,
    LENGTH,
    CUT_OFF,
    MEAN_WORK,
    LEARNT_SHARE,
    PART,
) = range(OWN_FLOAT, OWN_FLOAT + 11)
#: Guaranteed throughput before anything is known: no load counts as light, no worker is cut off, none is
#: probed.
UNKNOWN = 1e-9
#: Sampling tables are rebuilt once estimates have moved by this share of their sum.
MOVED_ENOUGH = 0.001
#: The paper's constants: accuracy per unit of idle share, and the minimum rate of a live worker.
_ACCURACY, _ALIVE = 0.3, 0.1
#: Shorter windows than this would often cut off a worker by chance.
_LEAST_LENGTH = 16.0


@inlined
def _window(ints, worker):
    return ints[RATES_AT] + ints[WORKERS] + worker * _PER_WINDOW


@inlined
def _ring(ints, worker):
    """Return where the blocks of a worker's window are in ``floats``."""
    return ints[RATES_AT] + ints[WORKERS] * (1 + _PER_WINDOW) + worker * _PER_RING


@inlined
def _sizes(ints):
    return ints[RATES_AT] + ints[WORKERS] * (1 + WINDOW)


@inlined
def _forget_oldest(floats, window, ring):
    first = int(floats[window + _FIRST])
    block = ring + _PER_BLOCK * first
    floats[window + _WORK] -= floats[block + _WORK]
    floats[window + _SECONDS] -= floats[block + _SECONDS]
    floats[window + _COUNT] -= floats[block + _COUNT]
    floats[window + _FIRST] = (first + 1) % BLOCKS
    floats[window + _USED] -= 1.0


@helper
def _close_block(floats, window, ring):
    if floats[window + _USED] == BLOCKS:
        _forget_oldest(floats, window, ring)
    slot = int(floats[window + _FIRST] + floats[window + _USED]) % BLOCKS
    block = ring + _PER_BLOCK * slot
    for item in range(_PER_BLOCK):
        floats[block + item] = floats[window + _BLOCK_WORK + item]
    floats[window + _USED] += 1.0
    floats[window + _BLOCK_WORK] = floats[window + _BLOCK_SECONDS] = floats[window + _BLOCK_COUNT] = 0.0
    floats[window + _BEGAN] = floats[NOW]
    # Recompute the sums once per cycle of the ring, so that rounding errors do not accumulate.
    sums_anew = slot == 0
    for item in range(3):
        if sums_anew:
            floats[window + item] = 0.0
            for place in range(int(floats[window + _USED])):
                used = (int(floats[window + _FIRST]) + place) % BLOCKS
                floats[window + item] += floats[ring + _PER_BLOCK * used + item]
        else:
            floats[window + item] += floats[block + item]


@inlined
def take_completion(worker, work, seconds, real, ints, floats):
    """Add a completion to a worker's window; the size of a real task is stored for replay."""
    window = _window(ints, worker)
    floats[window + _BLOCK_WORK] += work
    floats[window + _BLOCK_SECONDS] += seconds
    floats[window + _BLOCK_COUNT] += 1.0
    if floats[window + _BLOCK_COUNT] * (BLOCKS - 1) >= floats[LENGTH]:
        _close_block(floats, window, _ring(ints, worker))
    if real and work > 0.0:
        count = ints[SIZES_SEEN]
        floats[_sizes(ints) + count % SIZES] = work
        ints[SIZES_SEEN] = count + 1
        # An exponential mean over about a thousand tasks, and a plain mean until then.
        floats[MEAN_WORK] += (work - floats[MEAN_WORK]) / min(count + 1, 1000)


@inlined
def recent_size(ints, floats, number):
    """Return the size of a recent real task, chosen by a random `number` from 0 to 63; 0 if there was none yet."""
    count = ints[SIZES_SEEN]
    return 0.0 if count == 0 else floats[_sizes(ints) + number % min(count, SIZES)]


@inlined
def window_sums(ints, floats, worker):
    """Return work, busy time (s) and number of a worker's last completions."""
    window = _window(ints, worker)
    work = floats[window + _WORK] + floats[window + _BLOCK_WORK]
    seconds = floats[window + _SECONDS] + floats[window + _BLOCK_SECONDS]
    return work, seconds, floats[window + _COUNT] + floats[window + _BLOCK_COUNT]


@helper
def clear_window(worker, ints, floats):
    """Clear everything learned of a worker; its window starts now."""
    window = _window(ints, worker)
    for item in range(_PER_WINDOW):
        floats[window + item] = 0.0
    floats[window + _BEGAN] = floats[NOW]


@helper
def take_load(ints, floats):
    """Compute load, accuracy, window length and cut-off time from the arrival rate."""
    count = ints[WORKERS]
    # The arrivals are those of this scheduler, the guaranteed throughput is shared by all.
    offered = arrival_rate(ints, floats) * floats[MEAN_WORK] / (floats[GUARANTEED] * floats[PART])
    load = min(max(offered, 0.0), floats[MOST_LOAD])
    epsilon = _ACCURACY * (1.0 - load)
    length = max(_LEAST_LENGTH, math.ceil(floats[WINDOW_SCALE] * math.log(max(count, 2)) / epsilon**2))
    # The paper's rates have mean 1; here a mean worker ends guaranteed / (n · mean work) tasks a second.
    least = _ALIVE * (1.0 - load) * floats[GUARANTEED] / (count * floats[MEAN_WORK])
    floats[LOAD], floats[EPSILON], floats[LENGTH] = load, epsilon, length
    floats[CUT_OFF] = (1.0 + epsilon) * length / least


@helper
def schedule_benchmark(now, ints, floats):
    """Draw the time of the next benchmark task; each scheduler sends its share of them."""
    spare = (1.0 - floats[LOAD]) * floats[GUARANTEED] * floats[PART] / floats[MEAN_WORK]
    rate = floats[PROBE_SHARE] * spare
    floats[BENCHMARK_AT] = now - math.log(unit(draw(ints))) / rate if rate > 0.0 else math.inf


@helper
def _adopt_observed_capacity(capacity, ints, floats):
    """Set the guaranteed throughput to the observed one, and the dependent values too if it was unknown before."""
    first = floats[GUARANTEED] <= UNKNOWN
    floats[GUARANTEED] = capacity * floats[LEARNT_SHARE]
    if first:
        take_load(ints, floats)
        schedule_benchmark(floats[NOW], ints, floats)
        # Rates of workers without completions were based on the unknown value, so estimate them again soon.
        ints[TICKS] = ints[WORKERS]


@helper
def refresh(ints, floats):
    """Compute new estimates of all rates; mark the table as out of date if they moved enough."""
    take_load(ints, floats)
    count, now, keep = ints[WORKERS], floats[NOW], 1.0 - floats[EPSILON]
    if ints[BEGUN] == 0:
        ints[BEGUN] = 1
        for worker in range(count):
            floats[_window(ints, worker) + _BEGAN] = now
    # Read once, as the compiler must assume that each rate written below changes them.
    length, cut_off, unknown = floats[LENGTH], floats[CUT_OFF], keep * floats[GUARANTEED] / count
    rates, first_window, first_ring = ints[RATES_AT], _window(ints, 0), _ring(ints, 0)
    moved = total = 0.0
    for worker in range(count):
        window, ring = first_window + worker * _PER_WINDOW, first_ring + worker * _PER_RING
        known = floats[index(window + _COUNT)] + floats[index(window + _BLOCK_COUNT)]
        began = floats[index(window + _BEGAN)]
        while floats[index(window + _USED)] > 0.0:
            oldest = ring + _PER_BLOCK * int(floats[index(window + _FIRST)])
            if known - floats[index(oldest + _COUNT)] < length:
                began = floats[index(oldest + _BLOCK_BEGAN)]
                break
            known -= floats[index(oldest + _COUNT)]
            _forget_oldest(floats, window, ring)
        seconds = floats[index(window + _SECONDS)] + floats[index(window + _BLOCK_SECONDS)]
        # Without completions, assume the mean guaranteed rate.
        rate = unknown
        if now - began > cut_off:
            rate = 0.0
        elif known > 0.0 and seconds > 0.0:
            rate = keep * (floats[index(window + _WORK)] + floats[index(window + _BLOCK_WORK)]) / seconds
        place = index(rates + worker)
        if is_present(ints, worker):
            moved += abs(rate - floats[place])
            total += rate
        floats[place] = rate
    if moved > MOVED_ENOUGH * total:
        ints[DIRTY] = 1
    ints[TICKS] = 0
    if floats[LEARNT_SHARE] > 0.0 and total > UNKNOWN:
        _adopt_observed_capacity(total / keep, ints, floats)


def learner_floats(workers: int) -> int:
    """Return how many floats rates, windows and sizes take.

    >>> learner_floats(1) == 1 + WINDOW + SIZES
    True
    """
    return workers * (1 + WINDOW) + SIZES
