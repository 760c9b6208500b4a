"""The number of spare instances with the highest expected gain, as the policy defines the gain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.scale.lib.arrivals import LEVELS, ArrivalLearner
from windlass.scale.lib.demand import Buckets, most, needed
from windlass.scale.lib.polling import serve_waiting
from windlass.scale.view import ScaleView, Totals

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedArrivals:
    """Arrivals expected before the next decision; k types, s levels of spare instances.

    Parameters
    ----------
    chances, served
        (k, s) probability that the instances of a level let a job run, and the number of jobs that then run.
    late
        (k,) wait of a new job without spare instances, s.
    """

    chances: _Floats
    served: _Floats
    late: _Floats


class SpareCapacity:
    """Learns arrivals, and keeps the number of spare instances with the highest total gain."""

    def __init__(self) -> None:
        self._buckets, self._arrivals = Buckets(), ArrivalLearner()
        self._spare: _Ints = np.zeros(1, np.int64)

    def decide(self, view: ScaleView, gains: Callable[[ExpectedArrivals], _Floats]) -> Totals:
        """Return totals for present jobs and for worthwhile spare instances; ``gains`` values each level (k, s)."""
        need = needed(view, self._buckets)
        if not view.due:
            return serve_waiting(view, need, need.least + self._spare)
        chances = self._arrivals.follow(view, need.least, self._buckets.of(view))
        self._spare = np.zeros(len(view.types), np.int64)
        if chances is None:
            counts = np.minimum(np.maximum(need.least, view.used + view.coming), most(view))
            return Totals(tuple(counts.tolist()), ("too little data so far",) * len(counts))
        # A new job is noticed at the next poll or decision, on average after half of that interval.
        late = np.array([kind.launch for kind in view.types]) + 0.5 * view.notice()
        won = np.cumsum(gains(ExpectedArrivals(chances, self._arrivals.served, late)), axis=1)
        spare = self._spare = np.where(won.max(axis=1) > 0.0, LEVELS[won.argmax(axis=1)], 0)
        counts = np.minimum(need.least + spare, most(view))
        why = (
            f"{extra} spare, worth the cost: one lets a job run within {view.period:g} s with probability {chance:.2f}"
            for extra, chance in zip(spare.tolist(), chances[:, 0].tolist(), strict=True)
        )
        return Totals(tuple(counts.tolist()), tuple(why))
