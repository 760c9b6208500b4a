"""Who knows the jobs to come: a bound for those who do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.scale.policies.reactive import Reactive
from windlass.scale.view import ScaleView, Totals

_WHY = "needed before another launch would be in time"


class Clairvoyant:
    """As many instances as the rises of the need call for, until those that the next decision launches are up.

    It is told how many instances would hold jobs if no job ever waited. Instances that hold jobs stay without being
    asked for, so only *rises* of the need count: a rise needs instances that were launched in time, or kept since the
    last fall. Where each job needs whole instances of one type and launches take as long as they are said to, no job
    waits that is submitted a launch and a period after the first decision, and of all plans of that period under which
    that is so, none pays for fewer instance-hours (unless something falls and rises at one and the same instant).

    Where several jobs share an instance it is no such bound: who is packed with whom depends on which instances are
    there. What waits in spite of the plan gets what the reactive policy would launch.

    Parameters
    ----------
    times
        (m,) when the need changes, s, rising; by default nothing is known, and only what waits is seen to.
    counts
        (m, k) how many instances of each type are needed from then on.

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
    #: What it wants gone may go.
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
        """The highest rise in a launch and a period from now."""
        wanted = np.array([self._needed(view, kind) for kind in range(len(view.types))])
        most = np.array([kind.most for kind in view.types])
        wanted = np.minimum(wanted, most)
        if not view.due:
            # The next decision still launches in time; a look lets go of what rises no more.
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
    """The same where a count is higher than the one before, else 0."""
    if not len(counts):
        return counts
    before = np.vstack((np.zeros_like(counts[:1]), counts[:-1]))
    return np.where(counts > before, counts, 0)
