"""A fixed number of instances: the largest number ever needed, or a given one."""

from __future__ import annotations

import numpy as np

from windlass.model.values import number, whole
from windlass.scale.policies.reactive import Reactive
from windlass.scale.view import ScaleView, Totals


class Static:
    """Keeps as many instances of each type as the largest demand so far, whatever the current demand.

    Parameters
    ----------
    count
        Fixed number of instances of each type, instead of the largest demand.
    margin
        Factor on the largest demand.

    Examples
    --------
    >>> from windlass.model.instances import InstanceType
    >>> from windlass.scale.view import Demands
    >>> view = ScaleView(
    ...     0.0, 600.0, (InstanceType("small", cores=4),), *(np.zeros(1, np.int64),) * 3,
    ...     Demands.none(), Demands.none(), np.array([[0.5], [2.5], [1.0]]),
    ... )
    >>> Static().decide(view).counts
    (3,)
    """

    name = "static"
    #: The total covers every instance that should stay.
    idle = 0.0

    def __init__(self, count: int | None = None, margin: float = 1.0) -> None:
        self._count = None if count is None else whole("count", count, 0)
        self._margin = number("margin", margin, 0.0, open_below=True)

    def decide(self, view: ScaleView) -> Totals:
        """Return the same totals as before, or a new maximum."""
        most = np.array([kind.most for kind in view.types])
        wanted = np.ceil(self._margin * view.history.max(axis=0) - 1e-9).astype(np.int64)
        why = "the largest demand so far"
        if self._count is not None:
            wanted, why = np.full(len(most), self._count), "the configured number"
        if not view.due:
            wanted = np.minimum(wanted, view.ready + view.coming)
            if self._count is None and len(view.waiting):
                wanted, why = (
                    np.maximum(wanted, Reactive().decide(view).counts),
                    "demand exceeds the maximum so far",
                )
        return Totals(tuple(np.minimum(wanted, most).tolist()), (why,) * len(most))
