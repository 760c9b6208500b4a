"""Policies written as one compiled function over arrays, for the simulator's loop and for live use alike.

The function is called whenever a job has arrived or departed::

    rows = select(subjobs, slots, backlog, options, out)

============  ===============  ==================================================================
``subjobs``   float64 (n, m)   tasks that each job has left to start at each site, jobs by arrival
``slots``     float64 (m,)     slots of each site, at least 1
``backlog``   float64 (m,)     tasks that each site has to do before any of those
``options``   float64 (k,)     the policy's parameters, in the order of its class's ``options``
``out``       int64 (≥ m, ≥ n) out: the order of jobs, or one per site, in rows
============  ===============  ==================================================================

It returns the number of rows of ``out`` that it wrote: 1 for one order for all sites, else m; and changes nothing else.
If a policy has a ``refine``, it is called next on the rows and writes one order over the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.jit.compiled import check_is_kernel
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


#: Leaves the order unchanged.
KEEP = Kernel(_keep, REFINE, allocates=False)
_KEEPS_ORDER = Kernel(_none, SELECT, allocates=False)


@runtime_checkable
class FleetSelecting(Protocol):
    """A policy with a compiled ``select``; :class:`CompiledOrder` derives ``decide`` from it.

    The simulator's loop calls the function instead of ``decide``. :func:`in_loop` tests for it once per run.
    """

    @property
    def select(self) -> Kernel | None:
        """Function of signature :data:`SELECT` that orders the jobs; None if there is only ``decide``."""
        ...


@runtime_checkable
class Refining(Protocol):
    """A compiled policy that changes the order returned by its ``select``."""

    @property
    def refine(self) -> Kernel | None:
        """Function of signature :data:`REFINE`, called after ``select`` at each decision; None for no change."""
        ...


@runtime_checkable
class FleetParametric(Protocol):
    """A compiled policy whose ``select`` takes parameters."""

    @property
    def options(self) -> NDArray[np.float64] | None:
        """(k,) the parameters passed to ``select``; None for a single 0. Read once, before a run."""
        ...


@dataclass(frozen=True, eq=False)
class FleetFunctions:
    """Compiled functions of a policy that the simulator's loop calls.

    Parameters
    ----------
    select, refine
        The policy's functions.
    options
        (k,) the parameters passed to ``select``.
    decides
        Whether the policy decides in the loop; otherwise its ``decide`` is called, and the functions are placeholders.
    """

    select: Kernel
    refine: Kernel
    options: NDArray[np.float64]
    decides: bool


def in_loop(policy: object) -> FleetFunctions:
    """Return the functions of a policy for the simulator's loop; placeholders for None and without a compiled form."""
    select = select_of(policy)
    if select is None:
        return FleetFunctions(_KEEPS_ORDER, KEEP, np.zeros(1), False)
    refining, parametric = capability(policy, Refining), capability(policy, FleetParametric)
    refine = None if refining is None else refining.refine
    options = None if parametric is None else parametric.options
    return FleetFunctions(
        select, KEEP if refine is None else refine, np.zeros(1) if options is None else options, True
    )


def select_of(policy: object) -> Kernel | None:
    """Return a policy's compiled function, or None if it has only ``decide``.

    >>> from windlass.order.fleet.policies.fcfs import Fcfs
    >>> select_of(Fcfs()) is Fcfs.select, select_of(None) is None
    (True, True)
    """
    found = capability(policy, FleetSelecting)
    if found is None or found.select is None:
        return None
    check_is_kernel(policy, "select", found.select)
    return found.select


class CompiledOrder:
    """Base class that derives ``decide`` from a compiled ``select`` and ``refine``."""

    select: Kernel
    refine: Kernel = KEEP
    why: ClassVar[str]

    @property
    def options(self) -> NDArray[np.float64]:
        """(k,) the parameters passed to ``select``."""
        return np.zeros(1)

    def decide(self, view: FleetView) -> JobOrder:
        """Return the order in which the sites serve the waiting jobs, and the reason."""
        return JobOrder(ordered(self, view.subjobs, view.slots, view.backlog), self.why)


def ordered(
    policy: CompiledOrder,
    subjobs: NDArray[np.float64],
    slots: NDArray[np.float64],
    backlog: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return the order of a compiled policy on validated arrays: (n,), or (m, n) if sites differ."""
    jobs, sites = subjobs.shape
    out = np.empty((sites, jobs), np.int64)
    rows = policy.select.ready()(subjobs, slots, backlog, policy.options, out)
    rows = policy.refine.ready()(subjobs, slots, backlog, rows, out)
    return out[0].copy() if rows == 1 else out
