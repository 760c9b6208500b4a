"""What the cluster autoscaler of Kubernetes does: launch for jobs that wait, take away what is empty."""

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
    """Instances for the jobs that wait and that those which are starting will have no room for.

    Of the types that jobs fit on, the one is launched of which they leave the least part unused (the expander
    *least-waste*), and again for those that are left. An instance that is empty goes after ten minutes. The original
    also takes away those of which less than half is requested, where their pods find room elsewhere; a batch job
    cannot be moved, so here that is never done.

    Parameters
    ----------
    unneeded
        Seconds after which an empty instance goes.

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

    def __init__(self, unneeded: float = 600.0) -> None:
        self.idle = number("unneeded", unneeded, 0.0)

    def decide(self, view: ScaleView) -> Totals:
        """What is used and coming, and what is missing."""
        if not len(view.waiting):
            return answer(view, view.used + view.coming)
        totals, groups, most = begun(view)
        while len(groups.counts):
            chosen = least_waste(view.types, groups, most - totals)
            if chosen is None:
                break
            kind, taken, more = chosen
            totals[kind] += more
            groups = groups.less(taken)
        return answer(view, totals)


def begun(view: ScaleView) -> tuple[_Ints, RequestGroups, _Ints]:
    """Return totals without further instances, the jobs that these leave waiting, and the limits of totals.

    Totals have all that is used, coming, or needed by jobs that wait for whole instances. Waiting jobs have no room on
    what is up. They are put on what is coming and not needed whole by others.
    """
    waiting = pending(view.waiting, view.types)
    most: _Ints = np.array([kind.most for kind in view.types])
    whole = waiting.whole
    kept = view.used + view.coming
    extra = np.maximum(0, whole - view.coming)
    beside = np.maximum(0, view.coming - whole)
    of = np.repeat(np.arange(len(view.types)), beside)
    free = np.array([view.types[kind].vector() for kind in of.tolist()]).reshape(len(of), 3)
    groups = waiting.groups.less(put(waiting.groups, free, of))
    return np.minimum(kept + extra, most), groups, most


def least_waste(
    types: Sequence[InstanceType], groups: RequestGroups, most: _Ints
) -> tuple[int, _Ints, int] | None:
    """The type that jobs leave the least of, of how many of each group has room, and how many instances; or None."""
    best, found = np.inf, None
    for kind, of in enumerate(types):
        if most[kind] <= 0:
            continue
        capacity = of.vector()
        taken, left = fill(groups, kind, capacity, int(most[kind]))
        if not taken.any():
            continue
        has = capacity > 0
        waste = float((left[:, has] / capacity[has]).mean())
        if waste < best:
            best, found = waste, (kind, taken, len(left))
    return found


def answer(view: ScaleView, totals: _Ints) -> Totals:
    """Totals with what they are for."""
    there = view.ready + view.coming
    words = []
    for total, before, used in zip(totals.tolist(), there.tolist(), view.used.tolist(), strict=True):
        if total > before:
            words.append(f"{total - before} more for jobs that wait")
        elif total < before:
            words.append(f"{before - total} hold no job")
        else:
            words.append(f"{used} hold jobs, nobody waits for more")
    return Totals(tuple(totals.tolist()), tuple(words))
