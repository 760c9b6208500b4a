"""Which job goes first?

Jobs wait, processors become free: an ordering policy says which waiting jobs start now. It reads a
:class:`~windlass.model.SiteView` and answers with a :class:`~windlass.model.Start`; it never touches an engine.

Policies of one site, one file each:

- ``fcfs``: first come, first served.
- ``sjf``: shortest job first, by requested time.
- ``easy``: EASY backfilling; the head of the queue is never delayed.
- ``conservative``: conservative backfilling; nobody is delayed by a later job.

>>> from windlass.order import POLICIES
>>> POLICIES.names()
('conservative', 'easy', 'fcfs', 'sjf')

Policies over many sites are in :mod:`windlass.order.multisite`; here they are functions on arrays:
:func:`swag`, :func:`reordering`, :func:`global_srpt`, :func:`independent_srpt`, :func:`fcfs`, :func:`optimal`, and
:func:`finish_instants` to judge an order by.

>>> from windlass.order import swag
>>> swag([[1, 10, 1], [3, 8, 0], [7, 0, 6]], slots=1)
array([2, 1, 0])
"""

from __future__ import annotations

import importlib
from typing import ClassVar, Protocol

from windlass.model import SiteView, Start
from windlass.order.multisite._finish import finish_instants
from windlass.order.multisite.fcfs import fcfs as _fcfs
from windlass.order.multisite.global_srpt import global_srpt
from windlass.order.multisite.independent_srpt import independent_srpt
from windlass.order.multisite.optimal import optimal
from windlass.order.multisite.reordering import reordering
from windlass.order.multisite.swag import swag
from windlass.registry import Registry

POLICIES = Registry("order", "Which job goes first?", __name__)


class SitePolicy(Protocol):
    """Decides which waiting jobs of one site start now.

    A class with a ``name`` and this method, in a file of this folder, is a policy. ``docs/add-a-policy.md``
    shows one of ten lines.
    """

    name: ClassVar[str]

    def decide(self, view: SiteView) -> Start:
        """Which of ``view.waiting`` to start at ``view.now``. The view is not changed."""
        ...


# A file of this folder has the function's name, and importing it binds that name here: so it is imported first,
# and once. Code that wants the file's class asks `from windlass.order.fcfs import Fcfs`, which finds the file.
importlib.import_module(f"{__name__}.fcfs")
fcfs = _fcfs

__all__ = [
    "POLICIES",
    "SitePolicy",
    "fcfs",
    "finish_instants",
    "global_srpt",
    "independent_srpt",
    "optimal",
    "reordering",
    "swag",
]
