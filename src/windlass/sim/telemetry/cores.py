"""Cores of nodes during a step: how many were present, and the share of them that other parts held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.jit.schema import allocate, column, numba_type
from windlass.sim.handle import Handle, opening, storing
from windlass.sim.nodes import Ledger

Floats = NDArray[np.float64]
_Cores = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class StepCores:
    """Cores of n nodes during one step.

    Parameters
    ----------
    held
        (n,) mean share of a node's present cores that other parts held, over the time in which it had cores.
    cores
        (n,) mean number of present cores over the whole step.
    up
        (n,) share of the step in which the node had cores.
    present
        (n,) whether the node had cores during the step and has some at its end. A node that left, or that came at the
        very end, has measured nothing.
    """

    held: Floats
    cores: Floats
    up: Floats
    present: NDArray[np.bool_]

    @classmethod
    def whole(cls, held: Floats, cores: NDArray[np.int64]) -> StepCores:
        """Return the cores of nodes that were complete for the whole step.

        >>> StepCores.whole(np.array([0.5]), np.array([4])).up.tolist()
        [1.0]
        """
        n = len(held)
        return cls(held, cores.astype(np.float64), np.ones(n), np.ones(n, np.bool_))


class CoreSums(NamedTuple):
    """The cores of a site's nodes, and their sums over a step."""

    whole: Annotated[_Cores, column("nodes")]  # cores at full capacity
    capacity: Annotated[_Cores, column("nodes")]  # cores in the ledger, which changes them
    idle: Annotated[_Cores, column("nodes")]  # idle cores in the ledger, negative if cores are owed
    seen_capacity: Annotated[_Cores, column("nodes")]  # as they were when the sums were updated last
    seen_idle: Annotated[_Cores, column("nodes")]
    held: Annotated[Floats, column("nodes")]  # share of the present cores that other parts held, times s
    cores: Annotated[Floats, column("nodes")]  # present cores times s
    up: Annotated[Floats, column("nodes")]  # s with cores
    lost: Annotated[Floats, column("nodes")]  # absent cores times s


_opened = opening(numba_type(CoreSums))
STORE = storing(numba_type(CoreSums))


def _account(address, seconds, always):
    sums = _opened(address)
    changed = always != 0
    for node in range(len(sums.whole)):
        changed |= sums.capacity[node] != sums.seen_capacity[node] or sums.idle[node] != sums.seen_idle[node]
    if not changed:
        return 0
    for node in range(len(sums.whole)):
        cores = sums.seen_capacity[node]
        if cores > 0:
            sums.held[node] += (1.0 - max(sums.seen_idle[node], 0) / cores) * seconds
            sums.cores[node] += cores * seconds
            sums.up[node] += seconds
        sums.lost[node] += (sums.whole[node] - cores) * seconds
        sums.seen_capacity[node], sums.seen_idle[node] = sums.capacity[node], sums.idle[node]
    return 1


#: Add a time (s) to the sums of each node, for the cores seen last, and read its cores now; if a node's cores have not
#: changed, only with ``always``. Returns whether it did.
ACCOUNT = Kernel(_account, types.int64(types.int64, types.float64, types.int64), allocates=False)


class CoreMeter:
    """Measures the cores of a site's nodes from step to step.

    Parameters
    ----------
    ledger, site
        The ledger, and the site with one row for each node.

    Examples
    --------
    >>> ledger = Ledger([[4, 4]], parts=0)
    >>> meter = CoreMeter(ledger, 0)
    >>> ledger.set_capacity(1, 0)
    >>> meter.note(0.5)
    >>> step = meter.end(1.0)
    >>> step.cores.tolist(), step.up.tolist(), step.present.tolist()
    ([4.0, 2.0], [1.0, 0.5], [True, False])
    """

    kernels = (STORE, ACCOUNT)

    def __init__(self, ledger: Ledger, site: int) -> None:
        nodes, rows = ledger.nodes, ledger.rows(site)
        own = slice(rows.start, rows.stop)
        capacity, idle = nodes.capacity[own], nodes.idle[own]
        self._sums = allocate(
            CoreSums,
            {"nodes": len(rows)},
            whole=nodes.whole[own],
            capacity=capacity,
            idle=idle,
            seen_capacity=capacity.copy(),
            seen_idle=idle.copy(),
        )
        self._begin = self._since = 0.0
        self._handle, self._account = Handle(self._sums, STORE), ACCOUNT.entry()

    def note(self, now: float) -> None:
        """Account for the time until ``now`` (s) if the cores of a node have changed since the last call."""
        if self._account(self._handle.address, now - self._since, 0) != 0:
            self._since = now

    def end(self, now: float) -> StepCores:
        """Return the cores of the step that ends ``now`` (s), and begin the next."""
        sums = self._sums
        self._account(self._handle.address, now - self._since, 1)
        seconds, present = now - self._begin, sums.capacity > 0
        found = StepCores.whole(sums.held / seconds, sums.whole)
        if sums.lost.any() or not present.all():
            # A node that was complete has its exact number of cores, which the sums have rounded.
            complete, measured = sums.lost == 0.0, sums.up > 0.0
            found = StepCores(
                np.where(complete, found.held, sums.held / np.where(measured, sums.up, 1.0)),
                np.where(complete, found.cores, sums.cores / seconds),
                np.where(complete, 1.0, sums.up / seconds),
                measured & present,
            )
        for each in (sums.held, sums.cores, sums.up, sums.lost):
            each[:] = 0.0
        self._since = self._begin = now
        return found
