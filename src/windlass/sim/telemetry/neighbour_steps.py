"""The steps of neighbours, compiled: they are called at each change of a row of their site."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.jit.schema import Scalars, column, numba_type
from windlass.sim.cores import give_to
from windlass.sim.handle import opening
from windlass.sim.instants.calls import AT_INSTANT, HORIZON
from windlass.sim.nodes import Nodes, hold_rows
from windlass.sim.status import REACHED


class NeighbourCounts(Scalars):
    """``part``: the part's number in the ledger. ``following``: the next change of the demand."""

    part: int
    following: int


class NeighbourRun(NamedTuple):
    """The changes of the demand, of which some have been carried out."""

    nodes: Nodes
    time: Annotated[NDArray[np.float64], column("ends")]  # of each change, s; infinity after the last
    row: Annotated[NDArray[np.int64], column("changes")]  # of the ledger
    cores: Annotated[NDArray[np.int64], column("changes")]  # by which the demand grows
    counts: Annotated[NDArray[np.void], NeighbourCounts]


RUN_TYPE = numba_type(NeighbourRun)
_opened = opening(RUN_TYPE)


def _settle(address, now):
    """Give up the cores of changed rows that are to be vacated."""
    run = _opened(address)
    nodes, part = run.nodes, run.counts[0].part
    for place in range(nodes.counts[0].to_settle):
        row = nodes.to_settle[place]
        owed = min(-nodes.idle[row], nodes.held[row, part])
        if nodes.vacate[row] != 0 and owed > 0:
            give_to(nodes, row, nodes.site[row], part, owed)
    return REACHED


def _decide(address, now):
    """Take cores, or give them back, as the demand changes."""
    run = _opened(address)
    counts = run.counts[0]
    while run.time[counts.following] <= now:
        row = run.row[counts.following]
        hold_rows(run.nodes, row, row + 1, counts.part, run.cores[counts.following])
        counts.following += 1
    return REACHED


def _horizon(address):
    """Return when the demand changes next, s."""
    run = _opened(address)
    return run.time[run.counts[0].following]


SETTLE, DECIDE = (Kernel(each, AT_INSTANT, allocates=False) for each in (_settle, _decide))
NEXT = Kernel(_horizon, HORIZON, allocates=False)
KERNELS = (SETTLE, DECIDE, NEXT)
