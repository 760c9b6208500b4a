"""The rules of the Kubernetes cluster autoscaler: launch for waiting jobs, remove empty instances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.model.instances import InstanceType
from windlass.model.values import number
from windlass.scale.bin_packing import RequestGroups, fill, pending, put
from windlass.scale.view import ScaleView, Totals

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


class Reactive:
    """Launches instances for waiting jobs, as far as starting instances have no room for them.

    It launches the type on which waiting jobs leave the smallest share unused (the expander *least-waste*),
    and repeats this for the jobs that remain. An empty instance is removed after ten minutes. The original
    also removes instances of which less than half is requested, if their pods fit elsewhere; a batch job
    cannot be moved, so this is left out.

    Parameters
    ----------
    unneeded
        Idle time after which an empty instance is removed, s.

    Examples
    --------
    >>> from windlass.scale.view import Demands
    >>> waiting = Demands(np.array([[0.0, 3.0, 0.0]] * 2), np.zeros(2), np.full(2, np.inf))
    >>> view = ScaleView(
    ...     0.0, 600.0, (InstanceType("small", cores=4),), *(np.zeros(1, np.int64),) * 3,
    ...     Demands.none(), waiting, np.zeros((1, 1)),
    ... )
    >>> Reactive().decide(view).counts
    (2,)
    """

    name = "reactive"
    shared = True

    def __init__(self, unneeded: float = 600.0) -> None:
        self.idle = number("unneeded", unneeded, 0.0)

    def decide(self, view: ScaleView) -> Totals:
        """Return used and starting instances, and those that waiting jobs still need."""
        if not len(view.waiting):
            return answer(view, view.used + view.coming)
        totals, groups, most = initial_totals(view)
        while len(groups.counts):
            chosen = least_waste(view.types, groups, most - totals)
            if chosen is None:
                break
            kind, placed, more = chosen
            totals[kind] += more
            groups = groups.less(placed)
        return answer(view, totals)


def initial_totals(view: ScaleView) -> tuple[_Ints, RequestGroups, _Ints]:
    """Return totals with the used, starting and whole instances that waiting jobs need, the remaining jobs, and limits.

    Waiting jobs have no room on instances that are up. They are placed on starting instances that no job needs as a
    whole.
    """
    waiting = pending(view.waiting, view.types)
    most: _Ints = np.array([kind.most for kind in view.types])
    whole = waiting.whole
    kept = view.used + view.coming
    extra = np.maximum(0, whole - view.coming)
    unclaimed = np.maximum(0, view.coming - whole)
    of = np.repeat(np.arange(len(view.types)), unclaimed)
    free = np.array([view.types[kind].vector() for kind in of.tolist()]).reshape(len(of), 3)
    groups = waiting.groups.less(put(waiting.groups, free, of))
    return np.minimum(kept + extra, most), groups, most


def least_waste(
    types: Sequence[InstanceType], groups: RequestGroups, most: _Ints
) -> tuple[int, _Ints, int] | None:
    """Return the type with the least waste, the jobs of each group it takes, and the number of instances; or None."""
    best, found = np.inf, None
    for kind, of in enumerate(types):
        if most[kind] <= 0:
            continue
        capacity = of.vector()
        placed, left = fill(groups, kind, capacity, int(most[kind]))
        if not placed.any():
            continue
        has = capacity > 0
        waste = float((left[:, has] / capacity[has]).mean())
        if waste < best:
            best, found = waste, (kind, placed, len(left))
    return found


def answer(view: ScaleView, totals: _Ints) -> Totals:
    """Return the totals, each with its reason."""
    there = view.ready + view.coming
    words = []
    for total, before, used in zip(totals.tolist(), there.tolist(), view.used.tolist(), strict=True):
        if total > before:
            words.append(f"{total - before} more for waiting jobs")
        elif total < before:
            words.append(f"{before - total} hold no job")
        else:
            words.append(f"{used} hold jobs, no waiting job needs more")
    return Totals(tuple(totals.tolist()), tuple(words))
