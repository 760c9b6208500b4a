"""Which job goes first, over all sites?

Each job has tasks fixed at the sites that hold their data: a *sub-job* per site. A job ends with its last
sub-job, so an order that is best at every site alone need not be best for the jobs. An order *stands*: it is asked
for when jobs arrive or depart, when a stage can begin, and when slots change, and until the next every site starts
tasks of the first job in its order that still has some there.

Policies, one file each in ``policies/``:

- ``fcfs``: first come, first served.
- ``global-srpt``: fewest remaining tasks over all sites first.
- ``independent-srpt``: each site for itself, its smallest sub-job first.
- ``reordering``: any of them, and then sub-jobs put off where that delays no job.
- ``swag``: next the job that would end first behind those already ordered.
- ``optimal``: the best order of the first few jobs, by search.

Each file has the policy's class and a function on arrays; :mod:`~windlass.order.fleet.functions` has all of these.
:mod:`~windlass.order.fleet.view` says what policies see and answer, :mod:`~windlass.order.fleet.compiled` how one is
compiled; ``lib/`` has what they share.

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
    """Orders the jobs of all sites.

    A class with a ``name`` and this method, in a file of ``policies/``, is a policy. In addition, it may be compiled:
    :class:`~windlass.order.fleet.compiled.FleetSelecting`, :class:`~windlass.order.fleet.compiled.Refining` and
    :class:`~windlass.order.fleet.compiled.FleetParametric`.
    """

    @property
    def name(self) -> str:
        """How scenarios and tables call it."""
        ...

    def decide(self, view: FleetView) -> JobOrder:
        """In which order the sites serve the waiting jobs. The view is not changed."""
        ...


__all__ = ["POLICIES", "FleetPolicy", "FleetView", "JobOrder"]
