"""Ordering over all sites: policies that decide which job goes first.

Each job has tasks fixed at the sites that hold their data: a *sub-job* per site. A job ends with its last
sub-job, so an order that is best at every site alone need not be best for the jobs. A policy is called
when jobs arrive or depart, when a stage can begin, and when slots change. Its order is in force until the next
call: every site starts tasks of the first job in the order that still has some there.

Policies, one file each in ``policies/``:

- ``fcfs``: first come, first served.
- ``global-srpt``: fewest remaining tasks over all sites first.
- ``independent-srpt``: each site independently, its smallest sub-job first.
- ``reordering``: any of them, with sub-jobs postponed where that delays no job.
- ``swag``: next the job that would end first behind those already ordered.
- ``optimal``: the best order of the first few jobs, by search.

Each file has the policy's class and a function on arrays; :mod:`~windlass.order.fleet.functions` exports the functions.
:mod:`~windlass.order.fleet.view` defines the input and output of a policy, :mod:`~windlass.order.fleet.compiled` the
form of a compiled policy, and ``lib/`` holds shared algorithms.

>>> from windlass.order.fleet import POLICIES
>>> "swag" in POLICIES.names()
True
"""

from __future__ import annotations

from typing import Protocol

from windlass.order.fleet.view import FleetView, JobOrder
from windlass.policy.registry import Registry

POLICIES = Registry(
    "order.fleet",
    "Which job goes first, over all sites?",
    "jobs arrive or depart, a stage can begin, or slots change",
    f"{__name__}.policies",
    key="order",
)


class FleetPolicy(Protocol):
    """A policy that orders the jobs of all sites.

    A class with a ``name`` and this method, in a file of ``policies/``, is a policy. It may also be compiled; see
    :class:`~windlass.order.fleet.compiled.FleetSelecting`, :class:`~windlass.order.fleet.compiled.Refining` and
    :class:`~windlass.order.fleet.compiled.FleetParametric`.
    """

    @property
    def name(self) -> str:
        """Name in scenarios and tables."""
        ...

    def decide(self, view: FleetView) -> JobOrder:
        """Return the order in which the sites serve the waiting jobs. The view is not changed."""
        ...


__all__ = ["POLICIES", "FleetPolicy", "FleetView", "JobOrder"]
