"""The paper's autoscaler: launches ahead of a demand forecast."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number
from windlass.scale.forecast import Forecaster
from windlass.scale.lib.demand import Buckets, Need, ahead, most, needed, peak, whole
from windlass.scale.lib.forecast_input import DAY, ForecastInput, Schedule, seed_of
from windlass.scale.lib.polling import serve_waiting
from windlass.scale.lib.steps import Ladder
from windlass.scale.view import ScaleView, Totals

_Ints = NDArray[np.int64]


class Predictive:
    """Adds the instances that a forecast expects to be needed to on-demand scaling.

    Each decision forecasts the demand of the next rows, up to the one in which an instance that is launched
    now is up, and takes the largest. If it exceeds the current demand, the difference is added to the total;
    otherwise the total is what jobs need. No instance that holds a job is removed.

    Until the history covers a season, a ladder of fixed steps replaces the forecast.

    Source: "A Predictive Autoscaler for Elastic Batch Jobs", Section 4.

    Parameters
    ----------
    forecaster
        Name of a forecaster, or an instance.
    quantile
        Quantile of the forecast to plan for; by default the mean. Larger values mean less waiting and a
        higher cost.
    ladder
        Pairs (from this many instances, reserve).
    seasons, retrain, keep
        Periods after which demand repeats, time between two fits, length of the history to fit to; s.
    idle
        Idle time after which an empty instance beyond the plan is removed, s. The paper leaves it to the
        cluster autoscaler, which waits ten minutes.
    options
        Parameters of a forecaster given by name.
    rng
        Random generator, for forecasters that need one.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> from windlass.model.instances import InstanceType
    >>> from windlass.scale.view import Demands
    >>> none = np.zeros(1, dtype=np.int64)
    >>> view = ScaleView(1800.0, 600.0, (InstanceType("small", cores=4, launch=600.0),), none + 2, none, none + 2,
    ...     Demands.none(), Demands.none(), np.array([[2.0], [5.0], [3.0], [2.0]]))
    >>> Predictive("seasonal-naive", seasons=[1800.0]).decide(view)
    Totals(counts=(5,), why=('5.0 expected within 600 s, 2.0 needed now',))
    """

    name: ClassVar[str] = "predictive"

    def __init__(
        self,
        forecaster: str | Forecaster = "nlinear",
        quantile: float | None = None,
        ladder: Sequence[Sequence[int]] = ((0, 1), (8, 2), (32, 4), (128, 8)),
        seasons: Sequence[float] = (DAY, 7 * DAY),
        retrain: float = 28 * DAY,
        keep: float = 84 * DAY,
        idle: float = 600.0,
        options: dict[str, Any] | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        if quantile is not None:
            number("quantile", quantile, 0.001, 0.9999)
        self.idle = number("idle", idle, 0.0)
        self._quantile = quantile
        self._ladder = Ladder(ladder)
        self._feed = ForecastInput(
            forecaster, Schedule(tuple(seasons), retrain, keep), dict(options or {}), seed_of(rng)
        )
        self._buckets = Buckets()
        self._plan: _Ints = np.zeros(1, dtype=np.int64)

    def decide(self, view: ScaleView) -> Totals:
        """Return a new plan once a period; between, serve waiting jobs."""
        need = needed(view, self._buckets)
        if not view.due:
            return serve_waiting(view, need, self._plan)
        answer = self._planned(view, need)
        self._plan = np.array(answer.counts, dtype=np.int64)
        return answer

    def _planned(self, view: ScaleView, need: Need) -> Totals:
        """Return the current demand, and what the forecast adds to it."""
        forecaster = self._feed.at(view)
        if forecaster is None:
            return self._by_ladder(view, need)
        rows = ahead(view)
        longest = int(rows.max())
        if self._quantile is None:
            found = forecaster.forecast(longest)
        else:
            found = forecaster.forecast(longest, (self._quantile,))[0]
        then = peak(found, rows)
        # The demand ahead is assumed to be packed as loosely as the current one.
        counts = np.minimum(np.maximum(need.least, whole(then) + need.spread), most(view))
        how = "expected" if self._quantile is None else f"enough with probability {self._quantile:g}"
        why = (
            f"{later:.1f} {how} within {step * view.period:g} s, {now:.1f} needed now"
            for later, step, now in zip(then.tolist(), rows.tolist(), need.now.tolist(), strict=True)
        )
        return Totals(tuple(counts.tolist()), tuple(why))

    def _by_ladder(self, view: ScaleView, need: Need) -> Totals:
        reserve = self._ladder.reserve(need.least)
        counts = np.minimum(need.least + reserve, most(view))
        why = (f"{extra} in reserve: too little history to forecast from" for extra in reserve.tolist())
        return Totals(tuple(counts.tolist()), tuple(why))
