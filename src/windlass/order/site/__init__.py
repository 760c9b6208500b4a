"""Which job goes first, at one site?

Rigid jobs wait, processors become free: an ordering policy says which waiting jobs start now. It reads a
:class:`SiteView` and answers with a :class:`Start`; it never touches an engine.

Policies, one file each in ``policies/``:

- ``fcfs``: first come, first served.
- ``sjf``: shortest job first, by requested time.
- ``easy``: EASY backfilling; the head of the queue is never delayed.
- ``conservative``: conservative backfilling; nobody is delayed by a later job.
- ``queue``: one of the ``priorities/`` with one of the :mod:`~windlass.order.site.backfills`.

:mod:`~windlass.order.site.view` has what they see and answer, :mod:`~windlass.order.site.compiled` how one is compiled;
``lib/`` has what they share.
:mod:`~windlass.order.site.reservation` is when those who wait can start at the latest.
:mod:`~windlass.order.site.ownership` tells those that go by it whose the jobs of a run are.

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
    """Decides which waiting jobs of one site start now.

    A class with a ``name`` and this method, in a file of ``policies/``, is a policy. ``docs/add-a-policy.md``
    shows one of ten lines. In addition, it may be

    - :class:`~windlass.order.site.compiled.Selecting`, :class:`~windlass.order.site.compiled.Pooled` and
      :class:`~windlass.order.site.compiled.Parametric`: it is compiled;
    - :class:`~windlass.order.site.reservation.Reserving`: it promises starts to jobs that wait;
    - :class:`~windlass.order.site.ownership.Decaying` and :class:`~windlass.order.site.ownership.Owned`: it goes by
      whose jobs are.
    """

    name: ClassVar[str]

    def decide(self, view: SiteView) -> Start:
        """Which of ``view.waiting`` to start at ``view.now``. The view is not changed."""
        ...


__all__ = ["POLICIES", "Running", "SitePolicy", "SiteView", "Start", "Waiting"]
