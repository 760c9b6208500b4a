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
from typing import ClassVar

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.order.fleet.view import FleetView, JobOrder
from windlass.policy.registry import optional

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


@dataclass(frozen=True, eq=False)
class Compiled:
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


def in_loop(policy: object) -> Compiled:
    """A policy as the simulator's loop calls it; one without a compiled form, or None, is not called there."""
    select: Kernel | None = optional(policy, "select")
    if select is None:
        return Compiled(_NOBODY, KEEP, np.zeros(1), False)
    refine: Kernel | None = optional(policy, "refine")
    options: NDArray[np.float64] | None = optional(policy, "options")
    return Compiled(
        select, KEEP if refine is None else refine, np.zeros(1) if options is None else options, True
    )


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
