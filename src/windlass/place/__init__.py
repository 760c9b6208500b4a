"""The site at which each task runs, and the sites from which it reads.

Sites on several continents have slots, links, and part of the data. A placement policy decides which waiting
tasks start where. It reads a :class:`~windlass.place.view.PlaceView` and returns a
:class:`~windlass.place.view.Placement`; it never calls an engine. :func:`map_stage` and :func:`reduce_stage`
place one stage given as arrays, without a cluster.

Policies, one file each in ``policies/``:

- ``tetrium``: least transfer plus compute time per stage, shortest job first; WAN budget, fairness, kept
  plans.
- ``tetrium-fs``, ``tetrium-i-task``, ``tetrium-i-data``: variants of it with one part replaced, to measure
  its benefit.
- ``in-place``: tasks at their data, with fair sharing of slots.
- ``delay-scheduling``: the same, but tasks that waited too long run wherever slots are free.
- ``centralised``: all data moves to the largest site first.
- ``iridium``: maps in place, shuffles where the network takes least time.
- ``gather``: Windlass's own; shuffles gather at few sites, so that later ones of the job need not move.
- ``gather-or-leave``: the same, but maps that would wait leave their input if reading is short.
- ``tetris``: packing of slots and links, with a fixed penalty for remote reads.

:mod:`~windlass.place.view` has the view and the answer, and :mod:`~windlass.place.compiled` the interface of
compiled policies. ``lib/`` has parts that several policies share, and ``functions/`` has placement on arrays.

>>> from windlass.place import POLICIES, map_stage
>>> "tetrium" in POLICIES.names()
True
>>> map_stage([20e9, 30e9, 50e9], [40, 10, 20], [5e9, 1e9, 2e9], [5e9, 1e9, 5e9], tasks=1000, task_s=2).stage_s
44.285714285714285
"""

from typing import ClassVar, Protocol

from windlass.place.functions.replan import replan
from windlass.place.functions.stage import MapPlan, ReducePlan, map_stage, reduce_stage
from windlass.place.view import Placement, PlaceView
from windlass.policy.registry import Registry

POLICIES = Registry(
    "place",
    "At which site does each task run, and from where does it read?",
    "anything changes while a task waits",
    f"{__name__}.policies",
)


class PlacePolicy(Protocol):
    """A policy that decides which waiting tasks start now, where they run, and from where they read.

    A class with a ``name`` and this method, in a file of ``policies/``, is a policy. It may implement
    :class:`~windlass.jit.compiled.Compiled` as well.
    """

    name: ClassVar[str]

    def decide(self, view: PlaceView) -> Placement:
        """Return which tasks of ``view.ready`` start at ``view.now``. The view is not changed."""
        ...


__all__ = [
    "POLICIES",
    "MapPlan",
    "PlacePolicy",
    "PlaceView",
    "Placement",
    "ReducePlan",
    "map_stage",
    "reduce_stage",
    "replan",
]
