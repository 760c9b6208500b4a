"""Proportional sampling in constant time with an alias table.

Each worker has a column of the table: a sample picks a column, then its own worker or the other one stored in
it.

==============  =====  ========================================  ==========  ==========
in a column     place  what it is                                written by  read by
==============  =====  ========================================  ==========  ==========
``THRESHOLD``   0      share that is the worker's own, of 2³²    ``build``   ``sample``
``ALIAS``       1      worker that has the rest of the column    ``build``   ``sample``
``PER_COLUMN``  2      numbers in each column
``ALIAS_INTS``  3      numbers of ``ints`` for each worker
==============  =====  ========================================  ==========  ==========

Lists in ``ints``, from :func:`~windlass.dispatch.state.own_ints` on: n columns; then a work list of n
workers, used while the table is built.

Source: Walker, ACM TOMS 3(3), 1977; built in O(n) as in Vose, IEEE TSE 17(9), 1991.
"""

from __future__ import annotations

import numpy as np

from windlass.dispatch.state import (
    DIRTY,
    PRESENT,
    RATES_AT,
    WORKERS,
    below,
    draw,
    is_present,
    low_half,
    own_ints,
)
from windlass.jit import helper, index, inlined, pick

THRESHOLD, ALIAS, PER_COLUMN, ALIAS_INTS = range(4)
_FULL = 4294967296.0


@helper
def build(ints, floats):
    """Build the table from the rates of the present workers; if all are 0, each is equally likely."""
    count, rates, table = ints[WORKERS], ints[RATES_AT], own_ints(ints)
    todo = table + PER_COLUMN * count
    total = 0.0
    for worker in range(count):
        if is_present(ints, worker):
            total += floats[rates + worker]
    flat = total <= 0.0
    scale = count / ints[PRESENT] if flat else count / total
    # Until a column is settled, its threshold holds its share of 1, scaled to 32 bits.
    small, large = 0, count
    for worker in range(count):
        weight = 0.0
        if is_present(ints, worker):
            weight = scale if flat else floats[rates + worker] * scale
        share = np.int64(weight * _FULL)
        ints[table + PER_COLUMN * worker + THRESHOLD] = share
        ints[table + PER_COLUMN * worker + ALIAS] = worker
        if share < _FULL:
            ints[todo + small] = worker
            small += 1
        else:
            large -= 1
            ints[todo + large] = worker
    # Both stacks share one list: columns below 1 grow from its left end, the others from its right end.
    while small > 0 and large < count:
        small -= 1
        poor = ints[todo + small]
        rich = ints[todo + large]
        ints[table + PER_COLUMN * poor + ALIAS] = rich
        place = table + PER_COLUMN * rich + THRESHOLD
        ints[place] -= np.int64(_FULL) - ints[table + PER_COLUMN * poor + THRESHOLD]
        if ints[place] < _FULL:
            large += 1
            ints[todo + small] = rich
            small += 1
    _settle_rest(ints, floats, table, todo, small, rates, flat)
    ints[DIRTY] = 0


@inlined
def _settle_rest(ints, floats, table, todo, small, rates, flat):
    """Settle the columns that rounding left over: they are full, except those of workers that must never be drawn."""
    best = 0
    for worker in range(ints[WORKERS]):
        if is_present(ints, worker) and (
            not is_present(ints, best) or (not flat and floats[rates + worker] > floats[rates + best])
        ):
            best = worker
    for rest in range(small):
        worker = ints[todo + rest]
        if is_present(ints, worker) and (flat or floats[rates + worker] > 0.0):
            ints[table + PER_COLUMN * worker + THRESHOLD] = np.int64(_FULL)
        else:
            ints[table + PER_COLUMN * worker + ALIAS] = best


@inlined
def sample(ints):
    """Return a worker, with probability proportional to its rate."""
    bits = draw(ints)
    column = below(bits, ints[WORKERS])
    place = index(own_ints(ints) + PER_COLUMN * column)
    other = ints[place + index(ALIAS)]
    return pick(low_half(bits) < ints[place + index(THRESHOLD)], column, other)
