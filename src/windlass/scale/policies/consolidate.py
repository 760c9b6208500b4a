"""The rules of Karpenter, as far as they apply to jobs that cannot be moved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.model.instances import InstanceType
from windlass.model.values import number
from windlass.scale.bin_packing import RequestGroups, room
from windlass.scale.policies.reactive import answer, initial_totals
from windlass.scale.view import ScaleView, Totals

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


class Consolidate:
    """Launches the cheapest instance for as many waiting jobs as one can hold, repeatedly; removes empty ones at once.

    Jobs are packed onto a hypothetical instance, the largest first, while some type has room for all of them;
    then the cheapest such type is launched. Karpenter also deletes an instance, or replaces it with a cheaper
    one, if its pods fit elsewhere. A batch job cannot be moved, so here only empty instances are removed.

    Parameters
    ----------
    after
        Idle time after which an empty instance is removed, s.

    Examples
    --------
    >>> from windlass.scale.view import Demands
    >>> waiting = Demands(np.array([[0.0, 3.0, 0.0]] * 2), np.zeros(2), np.full(2, np.inf))
    >>> types = (InstanceType("small", cores=4, price=1.0), InstanceType("large", cores=8, price=1.5))
    >>> view = ScaleView(
    ...     0.0, 600.0, types, *(np.zeros(2, np.int64),) * 3, Demands.none(), waiting, np.zeros((1, 2))
    ... )
    >>> Consolidate().decide(view).counts
    (0, 1)
    """

    name = "consolidate"
    shared = True

    def __init__(self, after: float = 0.0) -> None:
        self.idle = number("after", after, 0.0)

    def decide(self, view: ScaleView) -> Totals:
        """Return used and starting instances, and those that waiting jobs still need."""
        if not len(view.waiting):
            return answer(view, view.used + view.coming)
        totals, groups, most = initial_totals(view)
        while len(groups.counts):
            chosen = _cheapest_full(view.types, groups, totals < most)
            if chosen is None:
                break
            kind, placed = chosen
            # As many equal instances as these groups fill.
            times = max(1, int((groups.counts[placed > 0] // placed[placed > 0]).min()))
            times = min(times, int(most[kind] - totals[kind]))
            totals[kind] += times
            groups = groups.less(times * placed)
        return answer(view, totals)


def _cheapest_full(
    types: Sequence[InstanceType], groups: RequestGroups, allowed: NDArray[np.bool_]
) -> tuple[int, _Ints] | None:
    """Return how many jobs of each group fit on one instance together, and the cheapest type that has room for them."""
    kinds: _Ints = np.flatnonzero(allowed).astype(np.int64)
    free = np.array([types[kind].vector() for kind in kinds.tolist()]).reshape(len(kinds), 3)
    placed = np.zeros(len(groups.counts), np.int64)
    for group, (vector, count) in enumerate(zip(groups.vectors, groups.counts.tolist(), strict=True)):
        each = np.minimum(room(free, vector), count) * groups.welcome[group, kinds]
        if not each.any():
            continue
        placed[group] = each.max()
        # Types that hold fewer jobs of this group are dropped.
        stay = each == each.max()
        kinds, free = kinds[stay], free[stay] - placed[group] * vector
    if not placed.any():
        return None
    return min(kinds.tolist(), key=lambda kind: (types[kind].price, kind)), placed
