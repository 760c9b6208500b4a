"""The paper's plan: as many instances as a forecast says will be needed when one that is launched now is ready."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number
from windlass.scale.forecast import Forecaster
from windlass.scale.lib.demand import Buckets, Need, ahead, most, needed, peak, whole
from windlass.scale.lib.forecast_input import DAY, ForecastInput, Schedule, seed_of
from windlass.scale.lib.polling import look_after
from windlass.scale.lib.steps import Ladder
from windlass.scale.view import ScaleView, Totals

_Ints = NDArray[np.int64]


class Predictive:
    """On-demand scaling, and what a forecast says that will be needed besides.

    At each decision the need of the next rows is forecast, up to the one in which an instance that is launched now is
    ready. The largest of these counts. Where it is above what is needed now, so many instances more are asked for;
    where it is below, nothing is asked for besides what jobs need, and nothing that holds a job is taken away.

    Until a season of history is there, a ladder of fixed steps takes the forecast's place.

    Source: "A Predictive Autoscaler for Elastic Batch Jobs", Section 4.

    Parameters
    ----------
    forecaster
        By its name, or any that is made.
    quantile
        Which quantile of what may come is planned for; by default what is expected. The larger, the less is waited and
        the more it costs.
    ladder
        Pairs (from so many instances on, so many in reserve).
    seasons, retrain, keep
        After what time things repeat, how long what was learned is used, how much history is learned from; s.
    idle
        Seconds after which an instance that is beyond the plan and empty goes; the paper leaves that to the cluster
        autoscaler, who waits ten minutes.
    options
        Of a forecaster by name.
    rng
        For forecasters that draw.

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
        """A plan once a period; at looks in between, who waits is served."""
        need = needed(view, self._buckets)
        if not view.due:
            return look_after(view, need, self._plan)
        answer = self._planned(view, need)
        self._plan = np.array(answer.counts, dtype=np.int64)
        return answer

    def _planned(self, view: ScaleView, need: Need) -> Totals:
        """What is needed now, and what is forecast besides."""
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
        # What jobs are spread over beyond or below their need today, they will be spread over then.
        counts = np.minimum(np.maximum(need.least, whole(then) + need.spread), most(view))
        how = "expected" if self._quantile is None else f"with chance {self._quantile:g} enough"
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
