"""Gradient-boosted trees on lagged values."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import whole
from windlass.scale.forecast.extras import need
from windlass.scale.forecast.model import ForecastModel
from windlass.scale.forecast.rows import Tail
from windlass.scale.forecast.scaling import ColumnScaling
from windlass.scale.forecast.seasons import checked_seasons

_Floats = NDArray[np.float64]

_LAGS = np.array([1, 2, 3, 4, 5, 6, 9, 12, 18, 24])
_MEANS = (6, 36, 144)


class LightGbm(ForecastModel):
    """Trees that predict the difference of a column from its last value at each step; one model for all columns.

    Features are the last value, its differences from earlier values, from means and from values a season
    before the forecast row, and the position in the season. Each number of steps and each quantile has its
    own trees, the latter trained with the quantile loss. Trees are grown at the first request, from the rows
    of ``fit`` only.

    Parameters
    ----------
    seasons
        Rows of each season.
    rounds, leaves
        Number of trees, and of leaves of each.
    seed
        Seed of the feature sampling.
    """

    name: ClassVar[str] = "lightgbm"

    def __init__(
        self, seasons: Sequence[int] = (144,), rounds: int = 150, leaves: int = 15, seed: int = 1
    ) -> None:
        self._seasons = checked_seasons(seasons)
        self._rounds, self._leaves = whole("rounds", rounds, 1), whole("leaves", leaves, 2)
        self._seed = seed
        self._reach = max(int(_LAGS.max()), *_MEANS, *self._seasons) + 1

    @property
    def least(self) -> int:
        """Twice the longest lag."""
        return 2 * self._reach

    def _learn(self, rows: _Floats) -> None:
        self._library = need("lightgbm", self.name)
        self._scale = ColumnScaling.of(rows)
        self._models: dict[tuple[int, float | None], Any] = {}

    def _begin(self, rows: _Floats) -> None:
        self._tail = Tail(self._scale.down(rows), self._reach)
        self._count = len(rows)

    def _advance(self, rows: _Floats) -> None:
        self._tail.add(self._scale.down(rows))
        self._count += len(rows)

    def _expect(self, steps: int) -> _Floats:
        return np.stack([self._one(step, None) for step in range(1, steps + 1)])

    def _quantiles(self, steps: int, wanted: tuple[float, ...]) -> _Floats:
        found = np.stack([[self._one(step, q) for step in range(1, steps + 1)] for q in wanted])
        # Trees of different quantiles are independent, so crossing quantiles are sorted.
        order = np.argsort(np.argsort(wanted))
        return np.sort(found, axis=0)[order]

    def _one(self, step: int, quantile: float | None) -> _Floats:
        key = (step, quantile)
        if key not in self._models:
            self._models[key] = self._grow(step, quantile)
        tail = self._tail.last(self._reach)
        at = np.array([self._reach - 1])
        inputs = np.concatenate(
            [
                self._inputs(column, at, self._count - self._reach, step, place)
                for place, column in enumerate(tail.T)
            ]
        )
        return self._scale.up(tail[-1] + self._models[key].predict(inputs, num_threads=1))

    def _grow(self, step: int, quantile: float | None) -> Any:
        scaled = self._scale.down(self._rows)
        at = np.arange(self._reach - 1, len(scaled) - step)
        inputs = np.concatenate([self._inputs(c, at, 0, step, place) for place, c in enumerate(scaled.T)])
        truths = np.concatenate([column[at + step] - column[at] for column in scaled.T])
        goal = {"objective": "l2"} if quantile is None else {"objective": "quantile", "alpha": quantile}
        how = {
            "num_leaves": self._leaves,
            "learning_rate": 0.05,
            "min_data_in_leaf": 50,
            "feature_fraction": 0.8,
            "seed": self._seed,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
            # Starting threads takes longer than the work on so little data.
            "num_threads": 1,
        }
        data = self._library.Dataset(inputs, truths)
        return self._library.train({**how, **goal}, data, self._rounds)

    def _inputs(self, column: _Floats, at: NDArray[np.int64], first: int, step: int, place: int) -> _Floats:
        """Return features (n, f) at rows ``at`` of a column whose first row has number ``first``."""
        now = column[at]
        columns = [now, np.full(len(at), float(place))]
        columns += [column[at - lag] - now for lag in _LAGS]
        sums = np.concatenate([[0.0], np.cumsum(column)])
        columns += [(sums[at + 1] - sums[at + 1 - mean]) / mean - now for mean in _MEANS]
        for season in self._seasons:
            # The latest known row that is a whole number of seasons before the forecast row.
            back = season * ((step + season - 1) // season) - step
            columns.append(column[np.maximum(at - back, 0)] - now)
            columns.append(column[np.maximum(at - season, 0)] - now)
            phase = 2 * np.pi * ((first + at + step) % season) / season
            columns += [np.sin(phase), np.cos(phase)]
        return np.stack(columns, axis=1)
