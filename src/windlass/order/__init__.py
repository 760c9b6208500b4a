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
"""

from typing import ClassVar, Protocol

from windlass.model import SiteView, Start
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


__all__ = ["POLICIES", "SitePolicy"]
