"""Cores of nodes during a step: how many were present, and the share of them that other parts held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, inlined
from windlass.jit.schema import Scalars, allocate, column, numba_type
from windlass.sim.handle import Handle, opening
from windlass.sim.ledger import Ledger

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


class CoreClock(Scalars):
    """``begin``: start of the step, s. ``since``: the time until which the sums are complete, s."""

    begin: float
    since: float


class CoreSums(NamedTuple):
    """The cores of a site's nodes, their sums over a step, and the last step."""

    whole: Annotated[_Cores, column("nodes")]  # cores at full capacity
    capacity: Annotated[_Cores, column("nodes")]  # cores in the ledger, which changes them
    idle: Annotated[_Cores, column("nodes")]  # idle cores in the ledger, negative if cores are owed
    seen_capacity: Annotated[_Cores, column("nodes")]  # as they were when the sums were updated last
    seen_idle: Annotated[_Cores, column("nodes")]
    held: Annotated[Floats, column("nodes")]  # share of the present cores that other parts held, times s
    cores: Annotated[Floats, column("nodes")]  # present cores times s
    up: Annotated[Floats, column("nodes")]  # s with cores
    lost: Annotated[Floats, column("nodes")]  # absent cores times s
    step_held: Annotated[Floats, column("nodes")]  # the last step, as in StepCores
    step_cores: Annotated[Floats, column("nodes")]
    step_up: Annotated[Floats, column("nodes")]
    present: Annotated[NDArray[np.bool_], column("nodes")]
    clock: Annotated[NDArray[np.void], CoreClock]


_STATE_TYPE = numba_type(CoreSums)
opened = opening(_STATE_TYPE)


@inlined
def _account(sums, seconds):
    """Add a time to the sums of each node, for the cores seen last, and read its cores now."""
    for node in range(len(sums.whole)):
        cores = sums.seen_capacity[node]
        if cores > 0:
            sums.held[node] += (1.0 - max(sums.seen_idle[node], 0) / cores) * seconds
            sums.cores[node] += cores * seconds
            sums.up[node] += seconds
        sums.lost[node] += (sums.whole[node] - cores) * seconds
        sums.seen_capacity[node], sums.seen_idle[node] = sums.capacity[node], sums.idle[node]


@inlined
def note_cores(sums, now):
    """Account for the time until ``now`` if the cores of a node have changed since the last call."""
    changed = False
    for node in range(len(sums.whole)):
        changed |= sums.capacity[node] != sums.seen_capacity[node] or sums.idle[node] != sums.seen_idle[node]
    if changed:
        _account(sums, now - sums.clock[0].since)
        sums.clock[0].since = now


@inlined
def end_step(sums, now):
    """Write the cores of the step that ends ``now``, and begin the next."""
    clock = sums.clock[0]
    _account(sums, now - clock.since)
    seconds = now - clock.begin
    for node in range(len(sums.whole)):
        measured = sums.up[node] > 0.0
        if sums.lost[node] == 0.0:
            # A node that was complete has its exact number of cores, which the sums have rounded.
            sums.step_held[node], sums.step_up[node] = sums.held[node] / seconds, 1.0
            sums.step_cores[node] = sums.whole[node]
        else:
            sums.step_held[node] = sums.held[node] / (sums.up[node] if measured else 1.0)
            sums.step_up[node], sums.step_cores[node] = sums.up[node] / seconds, sums.cores[node] / seconds
        sums.present[node] = measured and sums.capacity[node] > 0
        sums.held[node] = sums.cores[node] = sums.up[node] = sums.lost[node] = 0.0
    clock.begin = clock.since = now


def _note(address, now):
    note_cores(opened(address), now)
    return 0


def _end(address, now):
    end_step(opened(address), now)
    return 0


NOTE, END = (Kernel(each, types.int64(types.int64, types.float64), allocates=False) for each in (_note, _end))


class CoreMeter:
    """Measures the cores of a site's nodes from step to step; compiled.

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
        self._handle = Handle(self._sums, _STATE_TYPE)

    @property
    def address(self) -> int:
        """Address of the state, for compiled code."""
        return self._handle.address

    @property
    def present(self) -> NDArray[np.bool_]:
        """(n,) whether each node had cores during the last step and has some; the next step changes the array."""
        return self._sums.present

    def note(self, now: float) -> None:
        """Account for the time until ``now`` (s) if the cores of a node have changed since the last call."""
        NOTE.entry()(self.address, now)

    def end(self, now: float) -> StepCores:
        """Return the cores of the step that ends ``now`` (s), and begin the next."""
        END.entry()(self.address, now)
        sums = self._sums
        held, cores, up = (each.copy() for each in (sums.step_held, sums.step_cores, sums.step_up))
        return StepCores(held, cores, up, sums.present.copy())
