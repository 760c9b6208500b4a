"""Ordering at one site: policies that decide which waiting jobs start now.

Jobs are rigid: each holds a fixed number of processors while it runs. An ordering policy reads a :class:`SiteView`
and returns a :class:`Start`; it never touches an engine.

Policies, one file each in ``policies/``:

- ``fcfs``: first come, first served.
- ``sjf``: shortest job first, by requested time.
- ``easy``: EASY backfilling; the head of the queue is never delayed.
- ``conservative``: conservative backfilling; no job is delayed by a later one.
- ``queue``: one of the ``priorities/`` with one of the :mod:`~windlass.order.site.backfills`.

:mod:`~windlass.order.site.view` defines the input and output of a policy, :mod:`~windlass.order.site.compiled` the
form of a compiled policy, and ``lib/`` holds shared algorithms.
:mod:`~windlass.order.site.queue_index` is the index of a long queue, which a site keeps and a policy may read.
:mod:`~windlass.order.site.reservation` computes the latest start of waiting jobs.
:mod:`~windlass.order.site.ownership` passes the users, groups and queues of a run's jobs to policies that need them.

>>> from windlass.order.site import POLICIES
>>> "easy" in POLICIES.names()
True
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from windlass.order.site.view import Running, SiteView, Start, Waiting
from windlass.policy.registry import Registry

POLICIES = Registry(
    "order.site",
    "Which job goes first, at one site?",
    "a job is submitted, ends or is killed, or processors come or go, while others wait",
    f"{__name__}.policies",
    key="order",
)


class SitePolicy(Protocol):
    """A policy that decides which waiting jobs of one site start now.

    A class with a ``name`` and this method, in a file of ``policies/``, is a policy; ``docs/add-a-policy.md``
    shows an example of ten lines. A policy may also implement

    - :class:`~windlass.order.site.compiled.Selecting`, :class:`~windlass.order.site.compiled.Pooled` and
      :class:`~windlass.order.site.compiled.Parametric`: it is compiled;
    - :class:`~windlass.order.site.reservation.Reserving`: it promises start times to waiting jobs;
    - :class:`~windlass.order.site.ownership.Decaying` and :class:`~windlass.order.site.ownership.Owned`: it depends on
      the owners of jobs.
    """

    name: ClassVar[str]

    def decide(self, view: SiteView) -> Start:
        """Return the jobs of ``view.waiting`` to start at ``view.now``. The view is not changed."""
        ...


__all__ = ["POLICIES", "Running", "SitePolicy", "SiteView", "Start", "Waiting"]
