"""The arrays of the ledger: the cores of each row, the cores that each part holds, and the rows that changed.

A *row* is a node, or a whole site whose cores are alike (*pooled*). Both use the same code, and a pooled site costs as
little as a counter. The rows of a site are contiguous. A part takes idle cores and gives them back; a part that decides
later sees what is left, so parts never race. :mod:`~windlass.sim.ledger` has the rest.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, inlined, lean
from windlass.jit.schema import Scalars, column, numba_type
from windlass.sim.cores import give_to, set_idle, take_of
from windlass.sim.handle import opening


class LedgerCounts(Scalars):
    """``changed``: rows in ``Nodes.changed``. ``to_settle``: rows in ``Nodes.to_settle``.

    ``vacating``: whether a row is to be vacated that was not checked yet. ``limited``: whether a part has a limit.
    """

    changed: int
    to_settle: int
    vacating: int
    limited: int


_Cores = NDArray[np.int64]
_Flags = NDArray[np.uint8]


class Nodes(NamedTuple):
    """The ledger as arrays.

    Axes: ``rows``; ``sites``; ``parts``; ``words`` of 64 rows, where each site begins a new word.
    """

    whole: Annotated[_Cores, column("rows")]  # cores at full capacity
    capacity: Annotated[_Cores, column("rows")]  # cores now
    idle: Annotated[_Cores, column("rows")]  # capacity less all held cores; negative if cores are owed
    held: Annotated[_Cores, column("rows", "parts")]  # cores that each part holds
    site: Annotated[_Cores, column("rows")]  # the site of a row
    vacate: Annotated[_Flags, column("rows")]  # 1 if holders must give the row up
    watched: Annotated[_Flags, column("rows")]  # 1 or 2 if changes are recorded for one part or several
    first: Annotated[_Cores, column("ends")]  # first row of each site, and the end of the last
    word: Annotated[_Cores, column("ends")]  # first word of each site, and the end of the last
    total: Annotated[_Cores, column("sites")]  # idle cores
    owed: Annotated[_Cores, column("sites")]  # cores held beyond capacity
    lowest: Annotated[_Cores, column("sites")]  # the first word that may have idle cores
    most: Annotated[
        _Cores, column("sites", "parts", fill=-1)
    ]  # cores that a part may hold there; -1 for any number
    some: Annotated[NDArray[np.uint64], column("words")]  # a bit for each row with idle cores
    changed: Annotated[_Cores, column("rows")]  # rows changed since the last settlement, in order
    to_settle: Annotated[_Cores, column("rows")]  # rows changed before the last settlement
    marked: Annotated[_Flags, column("rows")]  # 1 if the row is in ``changed``
    counts: Annotated[NDArray[np.void], LedgerCounts]


NODES = numba_type(Nodes)


#: Reads the ledger from its address, in compiled code.
nodes_at = opening(NODES)


def _set_capacity(address, row, cores, vacate):
    nodes = nodes_at(address)
    nodes.vacate[row] = vacate
    idle = nodes.idle[row] + cores - nodes.capacity[row]
    nodes.capacity[row] = cores
    if idle != nodes.idle[row] or vacate != 0:
        set_idle(nodes, row, nodes.site[row], idle)
    if vacate != 0:
        nodes.counts[0].vacating = 1
    return 0


@lean
def hold_rows(nodes, first, end, part, cores):
    """Take idle cores of some rows of a site, or give cores back if negative; return the cores held there now."""
    site = nodes.site[first]
    # A call without an effect marks no row: a part may repeat it while others settle.
    claimed = np.int64(0)
    if cores > 0:
        claimed = min(cores, free_for(nodes, site, part))
    for row in range(first, end):
        some = min(claimed, max(nodes.idle[row], 0))
        if some > 0:
            take_of(nodes, row, site, part, some)
            claimed -= some
    held, returned = np.int64(0), -cores
    # The last rows are given up first, so that holders gather in the first ones.
    for row in range(end - 1, first - 1, -1):
        some = min(returned, nodes.held[row, part])
        if some > 0:
            give_to(nodes, row, site, part, some)
            returned -= some
        held += nodes.held[row, part]
    return held


def _hold(address, first, end, part, cores):
    return hold_rows(nodes_at(address), first, end, part, cores)


@inlined
def held_at(nodes, site, part):
    """Return the cores that a part holds at a site."""
    held = np.int64(0)
    for row in range(nodes.first[site], nodes.first[site + 1]):
        held += nodes.held[row, part]
    return held


@inlined
def free_for(nodes, site, part):
    """Return the idle cores of a site that a part may take."""
    if nodes.counts[0].limited == 0 or nodes.most[site, part] < 0:
        return nodes.total[site]
    return min(nodes.total[site], max(nodes.most[site, part] - held_at(nodes, site, part), 0))


@inlined
def claimed_by_others(nodes, site, part):
    """Return the cores of a site that other parts with a limit do not hold, but may take at any time."""
    claimed = np.int64(0)
    if nodes.counts[0].limited != 0:
        for other in range(nodes.held.shape[1]):
            if other != part and nodes.most[site, other] >= 0:
                claimed += max(nodes.most[site, other] - held_at(nodes, site, other), 0)
    return claimed


@inlined
def take_changed(nodes):
    """Move changed rows to those to settle; return their number."""
    counts = nodes.counts[0]
    count = counts.changed
    for place in range(count):
        nodes.to_settle[place] = nodes.changed[place]
        nodes.marked[nodes.changed[place]] = 0
    counts.changed, counts.to_settle = 0, count
    return count


def _take_changed(address):
    return take_changed(nodes_at(address))


SET_CAPACITY = Kernel(
    _set_capacity, types.int64(types.int64, types.int64, types.int64, types.uint8), allocates=False
)
HOLD = Kernel(_hold, types.int64(*(types.int64,) * 5), allocates=False)
TAKE_CHANGED = Kernel(_take_changed, types.int64(types.int64), allocates=False)
KERNELS = (SET_CAPACITY, HOLD, TAKE_CHANGED)
