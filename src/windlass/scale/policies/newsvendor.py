"""Reserves sized as a newsvendor problem: the rent of one instance too many against waiting for one too few."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.model.instances import InstanceType
from windlass.model.values import number
from windlass.scale.forecast import Forecaster
from windlass.scale.lib.change import Change
from windlass.scale.lib.demand import Buckets, Need, ahead, most, needed, peak, whole
from windlass.scale.lib.forecast_input import DAY, ForecastInput, Schedule, seed_of
from windlass.scale.lib.polling import serve_waiting
from windlass.scale.lib.steps import Ladder
from windlass.scale.view import ScaleView, Totals

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Features of each type: constant 1, waiting jobs, jobs whose walltime ends, the last change of demand, the
#: forecast.
_FEATURES = 5
#: Rows to learn from before the plan relies on the prediction.
_ENOUGH = 144
#: Rate at which the average number of jobs that share an instance follows new rows.
_LATELY = 0.01


class Newsvendor:
    """Balances the rent of unused instances against the waiting of jobs, instead of planning for the expected demand.

    An instance too many costs its rent until the next decision. One too few makes jobs wait for a launch: as
    many jobs as share one instance, at ``wait_price`` for each hour of each job. The number at which both
    balance is a quantile of the demand (the newsvendor problem). Therefore the reserve rarely has expensive
    instances that one job fills, and often has cheap ones that many jobs share.

    The demand at the end of a launch is predicted from the queue (waiting jobs, and running jobs whose
    requested walltime ends), from the last change of the demand, and from a forecast; past errors of this
    prediction give the quantile.

    Parameters
    ----------
    wait_price
        Price of an hour of waiting of one job, USD. At 0 only present jobs are served; larger values mean
        less waiting and a higher cost.
    forecaster
        Name of a forecaster, or an instance; None for none.
    idle
        Idle time after which an empty instance beyond the plan is removed, s.
    ladder, seasons, retrain, keep, options, rng
        See :class:`~windlass.scale.policies.predictive.Predictive`.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> policy = Newsvendor(wait_price=4.0)
    >>> policy.level(InstanceType("small", cores=4, price=1.0, launch=300.0), jobs=1.0, period=300.0)
    0.8
    """

    name: ClassVar[str] = "newsvendor"

    def __init__(
        self,
        wait_price: float = 4.0,
        forecaster: str | Forecaster | None = "seasonal-naive",
        ladder: Sequence[Sequence[int]] = ((0, 1), (8, 2), (32, 4), (128, 8)),
        seasons: Sequence[float] = (DAY, 7 * DAY),
        retrain: float = 28 * DAY,
        keep: float = 84 * DAY,
        idle: float = 600.0,
        options: dict[str, Any] | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self._wait_price = number("wait_price", wait_price, 0.0)
        self.idle = number("idle", idle, 0.0)
        self._ladder = Ladder(ladder)
        schedule = Schedule(tuple(seasons), retrain, keep)
        self._feed = (
            None
            if forecaster is None
            else ForecastInput(forecaster, schedule, dict(options or {}), seed_of(rng))
        )
        self._buckets = Buckets()
        self._plan: _Ints = np.zeros(1, dtype=np.int64)
        self._change: Change | None = None
        self._ahead: _Ints = np.empty(0, dtype=np.int64)
        self._last = -np.inf
        self._jobs: _Floats = np.empty(0)
        self._needs: _Floats = np.empty(0)

    def level(self, kind: InstanceType, jobs: float, period: float) -> float:
        """Return the probability with which there should be enough instances of a type.

        Parameters
        ----------
        kind
            The type, with its price and launch time; a type without a price counts as 1 USD an hour.
        jobs
            Number of jobs that share an instance.
        period
            Time from one decision to the next, s.
        """
        wait = self._wait_price * jobs * kind.launch
        return wait / (wait + (kind.price or 1.0) * period)

    def decide(self, view: ScaleView) -> Totals:
        """Return a new plan once a period; between, serve waiting jobs."""
        need = needed(view, self._buckets)
        if not view.due:
            return serve_waiting(view, need, self._plan)
        answer = self._planned(view, need)
        self._plan = np.array(answer.counts, dtype=np.int64)
        return answer

    def _planned(self, view: ScaleView, need: Need) -> Totals:
        """Return the current demand, and the reserve that is worth its cost."""
        rows = ahead(view)
        change = self._learner(view, rows)
        features = self._features(view, need, rows)
        change.observe(view.now, need.now, features)
        if change.cases < _ENOUGH:
            return self._by_ladder(view, need)
        shares = self._shares(view, need)
        levels = np.array(
            [
                self.level(kind, jobs, view.period)
                for kind, jobs in zip(view.types, shares.tolist(), strict=True)
            ]
        )
        then = np.maximum(need.now + change.quantile(view.now, features, levels), 0.0)
        counts = np.minimum(np.maximum(need.least, whole(then) + need.spread), most(view))
        why = (
            f"{later:.1f} are enough with probability {level:.2f} within {step * view.period:g} s, {now:.1f} needed now"
            for later, level, step, now in zip(
                then.tolist(), levels.tolist(), rows.tolist(), need.now.tolist(), strict=True
            )
        )
        return Totals(tuple(counts.tolist()), tuple(why))

    def _learner(self, view: ScaleView, rows: _Ints) -> Change:
        if self._change is None or view.now <= self._last or not np.array_equal(rows, self._ahead):
            self._change, self._ahead = Change(rows, _FEATURES), rows
        self._last = view.now
        return self._change

    def _features(self, view: ScaleView, need: Need, rows: _Ints) -> _Floats:
        kinds = len(view.types)
        features = np.zeros((kinds, _FEATURES))
        features[:, 0] = 1.0
        features[:, 1] = need.waiting
        running = view.running
        if len(running):
            until = view.now + float(rows.max()) * view.period
            ending = running.since + running.walltime <= until
            if ending.any():
                features[:, 2] = self._buckets.of(view).counts(running.resources[ending])
        if len(view.history) > 1:
            features[:, 3] = need.now - view.history[-2]
        forecaster = self._feed.at(view) if self._feed is not None else None
        if forecaster is not None:
            features[:, 4] = peak(forecaster.forecast(int(rows.max())), rows) - need.now
        return features

    def _shares(self, view: ScaleView, need: Need) -> _Floats:
        """Return (k,) the number of jobs that share an instance of each type, a moving average; at least 1."""
        if len(self._jobs) != len(view.types):
            self._jobs, self._needs = np.zeros(len(view.types)), np.zeros(len(view.types))
        kinds = self._buckets.of(view).assign(view.running.resources)
        # A job larger than any type needs many instances, so it counts for none of them.
        found = np.bincount(kinds[kinds >= 0], minlength=len(view.types))
        self._jobs += _LATELY * (found - self._jobs)
        self._needs += _LATELY * (need.now - self._needs)
        return np.maximum(self._jobs / np.maximum(self._needs, 1e-3), 1.0)

    def _by_ladder(self, view: ScaleView, need: Need) -> Totals:
        reserve = self._ladder.reserve(need.least)
        counts = np.minimum(need.least + reserve, most(view))
        why = (f"{extra} in reserve: too little data so far" for extra in reserve.tolist())
        return Totals(tuple(counts.tolist()), tuple(why))
