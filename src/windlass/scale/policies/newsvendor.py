"""As many instances as are worth their price: the cost of one too many against the wait of jobs for one too few."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number
from windlass.scale.forecast import Forecaster
from windlass.scale.lib.change import Change
from windlass.scale.lib.feed import DAY, Feed, Schedule, seed_of
from windlass.scale.lib.ladder import Ladder
from windlass.scale.lib.need import Buckets, Need, ahead, most, needed, peak, whole
from windlass.scale.view import ScaleView, Totals

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: What is seen of each type: always 1, jobs that wait, jobs whose walltime ends, how the need moved, what is forecast.
_FEATURES = 5
#: Rows that have to be learned from before the plan relies on it.
_ENOUGH = 144


class Newsvendor:
    """Plans what costs and waits, not what is expected.

    An instance more than is needed costs its rent until the next decision. One fewer makes jobs wait for as long as an
    instance takes to start, and an hour of their waiting is worth ``worth`` hours of its rent. The number at which both
    balance is a quantile of the need: that of ``worth × launch / (worth × launch + period)`` (the newsvendor's
    problem).

    The need within the time of a launch is told from what the queue shows (jobs that wait, running jobs whose requested
    walltime ends), from how the need moved, and from what a forecaster expects; by how much it was off so far says the
    rest.

    Parameters
    ----------
    worth
        Hours of rent that an hour of waiting is worth: 0 plans for the least need that may come, and then only jobs
        that are there are served; the larger, the less is waited and the more it costs.
    forecaster
        By its name, or any that is made; None for none.
    idle
        Seconds after which an instance that is beyond the plan and empty goes. The plan already says what is worth
        having.
    ladder, seasons, retrain, keep, options, rng
        As of :class:`~windlass.scale.policies.predictive.Predictive`.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> policy = Newsvendor(worth=4.0)
    >>> policy.level(launch=300.0, period=300.0)
    0.8
    """

    name: ClassVar[str] = "newsvendor"

    def __init__(
        self,
        worth: float = 4.0,
        forecaster: str | Forecaster | None = "seasonal-naive",
        ladder: Sequence[Sequence[int]] = ((0, 1), (8, 2), (32, 4), (128, 8)),
        seasons: Sequence[float] = (DAY, 7 * DAY),
        retrain: float = 28 * DAY,
        keep: float = 84 * DAY,
        idle: float = 0.0,
        options: dict[str, Any] | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self._worth = number("worth", worth, 0.0)
        self.idle = number("idle", idle, 0.0)
        self._ladder = Ladder(ladder)
        schedule = Schedule(tuple(seasons), retrain, keep)
        self._feed = (
            None if forecaster is None else Feed(forecaster, schedule, dict(options or {}), seed_of(rng))
        )
        self._buckets = Buckets()
        self._change: Change | None = None
        self._ahead: _Ints = np.empty(0, dtype=np.int64)
        self._last = -np.inf

    def level(self, launch: float, period: float) -> float:
        """The chance with which there should be enough.

        Parameters
        ----------
        launch, period
            Seconds that an instance takes to start, and from one decision to the next.
        """
        return self._worth * launch / (self._worth * launch + period)

    def decide(self, view: ScaleView) -> Totals:
        """What is needed now, and what is worth having besides."""
        need = needed(view, self._buckets)
        rows = ahead(view)
        change = self._learner(view, rows)
        seen = self._seen(view, need, rows)
        change.tell(view.now, need.now, seen)
        if change.told < _ENOUGH:
            return self._by_ladder(view, need)
        # An instance that starts within a period is worth no less than one that takes a whole one.
        levels = np.array([self.level(max(kind.launch, 1e-9), view.period) for kind in view.types])
        then = np.maximum(need.now + change.quantile(view.now, seen, levels), 0.0)
        counts = np.minimum(np.maximum(need.least, whole(then) + need.spread), most(view))
        why = (
            f"{later:.1f} are enough with chance {level:.2f} within {step * view.period:g} s, {now:.1f} needed now"
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

    def _seen(self, view: ScaleView, need: Need, rows: _Ints) -> _Floats:
        kinds = len(view.types)
        seen = np.zeros((kinds, _FEATURES))
        seen[:, 0] = 1.0
        seen[:, 1] = need.waiting
        running = view.running
        if len(running):
            until = view.now + float(rows.max()) * view.period
            ending = running.since + running.walltime <= until
            if ending.any():
                seen[:, 2] = self._buckets.of(view).counts(running.resources[ending])
        if len(view.history) > 1:
            seen[:, 3] = need.now - view.history[-2]
        forecaster = self._feed.at(view) if self._feed is not None else None
        if forecaster is not None:
            seen[:, 4] = peak(forecaster.forecast(int(rows.max())), rows) - need.now
        return seen

    def _by_ladder(self, view: ScaleView, need: Need) -> Totals:
        reserve = self._ladder.reserve(need.least)
        counts = np.minimum(need.least + reserve, most(view))
        why = (f"{extra} in reserve: too little was learned so far" for extra in reserve.tolist())
        return Totals(tuple(counts.tolist()), tuple(why))
