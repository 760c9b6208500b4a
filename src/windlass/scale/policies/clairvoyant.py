"""Autoscaling with knowledge of future jobs: a bound for policies without it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.scale.policies.reactive import Reactive
from windlass.scale.view import ScaleView, Totals

_WHY = "needed before another launch would be ready"


class Clairvoyant:
    """Launches for the known rises of demand, until instances that the next decision launches are up.

    It knows how many instances would hold jobs if no job ever waited. Instances that hold jobs stay in any
    case, so only *rises* of the demand count: a rise needs instances that were launched in time, or kept
    since the last fall. If each job needs whole instances of one type and launches take exactly the declared
    time, then no job waits that is submitted later than a launch and a period after the first decision. Of
    all plans of that period with this property, none pays for fewer instance-hours (unless the demand falls
    and rises at the same instant).

    If several jobs share an instance it is not a bound, because packing depends on the instances that exist.
    For jobs that wait in spite of the plan it launches what the reactive policy would.

    Parameters
    ----------
    times
        (m,) times at which the demand changes, s, rising. By default nothing is known, and only waiting jobs
        are served.
    counts
        (m, k) number of instances of each type that are needed from then on.

    Examples
    --------
    >>> from windlass.model.instances import InstanceType
    >>> from windlass.scale.view import Demands
    >>> view = ScaleView(
    ...     0.0, 600.0, (InstanceType("small", cores=4, launch=300.0),), *(np.zeros(1, np.int64),) * 3,
    ...     Demands.none(), Demands.none(), np.array([[0.0]]),
    ... )
    >>> Clairvoyant([800.0, 850.0, 900.0], [[3], [2], [9]]).decide(view).counts
    (3,)
    """

    name = "clairvoyant"
    #: Knows the future, so that it is compared with the others and cannot win.
    bound = True
    #: Instances above the total may be removed at once.
    idle = 0.0

    def __init__(
        self, times: Sequence[float] | None = None, counts: Sequence[Sequence[int]] | None = None
    ) -> None:
        self._times = np.asarray(() if times is None else times, np.float64)
        known = np.asarray(() if counts is None else counts, np.int64)
        if len(self._times) != len(known) or (len(known) and known.ndim != 2):
            raise InputError(
                f"counts has shape {known.shape}, expected a row for each of {len(self._times)} times"
            )
        if (np.diff(self._times) < 0).any():
            raise InputError("times: expected rising times")
        self._rises = _rises(known)

    def decide(self, view: ScaleView) -> Totals:
        """Return the highest known rise within a launch and a period from now."""
        wanted = np.array([self._needed(view, kind) for kind in range(len(view.types))])
        most = np.array([kind.most for kind in view.types])
        wanted = np.minimum(wanted, most)
        if not view.due:
            # The next decision still launches in time, so a poll launches nothing for future rises.
            wanted = np.minimum(wanted, view.ready + view.coming)
        if len(view.waiting):
            wanted = np.maximum(wanted, Reactive().decide(view).counts)
        return Totals(tuple(wanted.tolist()), (_WHY,) * len(most))

    def _needed(self, view: ScaleView, kind: int) -> int:
        if not len(self._times):
            return 0
        until = view.now + view.types[kind].launch + view.period
        first = int(np.searchsorted(self._times, view.now, side="right"))
        last = int(np.searchsorted(self._times, until, side="left"))
        return int(self._rises[first:last, kind].max(initial=0))


def _rises(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each count that is higher than the one before, else 0."""
    if not len(counts):
        return counts
    before = np.vstack((np.zeros_like(counts[:1]), counts[:-1]))
    return np.where(counts > before, counts, 0)
