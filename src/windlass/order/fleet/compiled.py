"""Policies written as one compiled function over arrays, for the simulator's loop and for live use alike.

The function is called whenever a job arrived or departed::

    rows = select(subjobs, slots, backlog, options, out)

============  ===============  ==================================================================
``subjobs``   float64 (n, m)   what each job has left to start at each site, jobs by arrival
``slots``     float64 (m,)     slots of each site, at least 1
``backlog``   float64 (m,)     what each site has to do before any of that
``options``   float64 (k,)     the policy's parameters, as its class's ``options`` lists them
``out``       int64 (≥ m, ≥ n) out: the order of jobs, or one per site, in rows
============  ===============  ==================================================================

It returns how many rows of ``out`` it wrote: 1 for one order for all sites, else m; and changes nothing else.
``refine``, where a policy has one, is called next on the rows, and writes one order over the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.order.fleet.view import FleetView, JobOrder
from windlass.policy.registry import capability

_floats, _table = types.float64[::1], types.float64[:, ::1]
_orders = types.int64[:, ::1]

SELECT = types.int64(_table, _floats, _floats, _floats, _orders)
REFINE = types.int64(_table, _floats, _floats, types.int64, _orders)


def _keep(subjobs, slots, backlog, rows, out):
    return rows


def _none(subjobs, slots, backlog, options, out):
    return 0


#: Leaves the order as it is.
KEEP = Kernel(_keep, REFINE, allocates=False)
_NOBODY = Kernel(_none, SELECT, allocates=False)


@runtime_checkable
class FleetSelecting(Protocol):
    """A policy with a compiled ``select``; :class:`CompiledOrder` makes ``decide`` from it.

    The simulator's loop then calls the function, and not ``decide``. :func:`in_loop` looks once per run.
    """

    @property
    def select(self) -> Kernel | None:
        """The order of jobs, of signature :data:`SELECT`; None of a policy that has only ``decide``."""
        ...


@runtime_checkable
class Refining(Protocol):
    """A compiled policy that changes the order that its ``select`` gave."""

    @property
    def refine(self) -> Kernel | None:
        """Called after ``select`` at each decision, of signature :data:`REFINE`; None for no change."""
        ...


@runtime_checkable
class FleetParametric(Protocol):
    """A compiled policy whose ``select`` takes parameters."""

    @property
    def options(self) -> NDArray[np.float64] | None:
        """(k,) what ``select`` is given; None for one 0. Read once, before a run."""
        ...


@dataclass(frozen=True, eq=False)
class FleetFunctions:
    """What the simulator's loop calls of a policy.

    Parameters
    ----------
    select, refine
        The policy's.
    options
        (k,) what ``select`` is given.
    decides
        Whether it decides in the loop; else it is asked through Python, and these are there to fill a place.
    """

    select: Kernel
    refine: Kernel
    options: NDArray[np.float64]
    decides: bool


def in_loop(policy: object) -> FleetFunctions:
    """A policy as the simulator's loop calls it; one without a compiled form, or None, is not called there."""
    select = select_of(policy)
    if select is None:
        return FleetFunctions(_NOBODY, KEEP, np.zeros(1), False)
    refining, parametric = capability(policy, Refining), capability(policy, FleetParametric)
    refine = None if refining is None else refining.refine
    options = None if parametric is None else parametric.options
    return FleetFunctions(
        select, KEEP if refine is None else refine, np.zeros(1) if options is None else options, True
    )


def select_of(policy: object) -> Kernel | None:
    """A policy's compiled function, or None where it has only ``decide``.

    >>> from windlass.order.fleet.policies.fcfs import Fcfs
    >>> select_of(Fcfs()) is Fcfs.select, select_of(None) is None
    (True, True)
    """
    found = capability(policy, FleetSelecting)
    return None if found is None else found.select


class CompiledOrder:
    """Gives a policy its ``decide`` from its compiled ``select`` and ``refine``."""

    select: Kernel
    refine: Kernel = KEEP
    why: ClassVar[str]

    @property
    def options(self) -> NDArray[np.float64]:
        """(k,) the parameters that ``select`` is given."""
        return np.zeros(1)

    def decide(self, view: FleetView) -> JobOrder:
        """In which order the sites serve the waiting jobs, and why."""
        return JobOrder(ordered(self, view.subjobs, view.slots, view.backlog), self.why)


def ordered(
    policy: CompiledOrder,
    subjobs: NDArray[np.float64],
    slots: NDArray[np.float64],
    backlog: NDArray[np.float64],
) -> NDArray[np.int64]:
    """The order of a compiled policy on checked arrays: (n,), or (m, n) where sites differ."""
    jobs, sites = subjobs.shape
    out = np.empty((sites, jobs), np.int64)
    rows = policy.select.ready()(subjobs, slots, backlog, policy.options, out)
    rows = policy.refine.ready()(subjobs, slots, backlog, rows, out)
    return out[0].copy() if rows == 1 else out
