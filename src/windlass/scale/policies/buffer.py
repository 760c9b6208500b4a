"""A constant reserve of spare instances, as operators configure it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from windlass.model.values import number, whole
from windlass.scale.lib import demand
from windlass.scale.lib.polling import serve_waiting
from windlass.scale.view import ScaleView, Totals


class Buffer:
    """Keeps a number of spare instances of each type, and a share of those in use, in addition to what jobs need.

    This is what a CapacityBuffer of Kubernetes, over-provisioning pods of low priority, or the headroom of an
    autoscaler give. Spare instances that jobs have taken are replaced at the next decision.

    Source: the baseline that an operator would configure; see the documentation of the Kubernetes autoscaler on
    over-provisioning.

    Parameters
    ----------
    spare
        Number of spare instances of each type, at least 0.
    share
        Spare instances as a share of the instances that hold jobs, rounded up, added to ``spare``; at least 0.
    idle
        Time for which an instance above the total may stay empty, s.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> from windlass.model.instances import InstanceType
    >>> from windlass.scale.view import Demands
    >>> view = ScaleView(
    ...     0.0, 600.0, (InstanceType("small", cores=4),), np.array([5]), np.array([0]), np.array([4]),
    ...     Demands.none(), Demands.none(), np.array([[4.0]]),
    ... )
    >>> Buffer(spare=2, share=0.5).decide(view).counts
    (8,)
    """

    name: ClassVar[str] = "buffer"

    def __init__(self, spare: int = 1, share: float = 0.0, idle: float = 600.0) -> None:
        self._spare, self._share = whole("spare", spare, 0), number("share", share, 0.0)
        self.idle = number("idle", idle, 0.0)
        self._buckets = demand.Buckets()

    def decide(self, view: ScaleView) -> Totals:
        """Return the instances for present jobs, and the reserve."""
        need = demand.needed(view, self._buckets)
        spare = self._spare + demand.whole(self._share * view.used.astype(np.float64))
        if not view.due:
            return serve_waiting(view, need, need.least + spare)
        counts = np.minimum(need.least + spare, demand.most(view))
        return Totals(
            tuple(counts.tolist()), tuple(f"{extra} spare, as configured" for extra in spare.tolist())
        )
