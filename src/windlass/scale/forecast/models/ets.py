"""ETS: seasons removed by MSTL, and exponential smoothing of the rest, its kind chosen by AICc (AutoETS)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.scale.forecast.extras import need
from windlass.scale.forecast.model import ForecastModel
from windlass.scale.forecast.scaling import ColumnScaling
from windlass.scale.forecast.seasons import checked_seasons

_Floats = NDArray[np.float64]


class Ets(ForecastModel):
    """Finds the seasons of each column by repeated smoothing and repeats the last ones; the rest is ETS(Z, Z, N).

    statsforecast does both. The seasonal values stay fixed after ``fit``; level and trend follow each row. A
    season is left out if the training rows do not contain two of it.

    Source: Bandara, Hyndman and Bergmeir, "MSTL", 2021; Hyndman et al., "Forecasting with exponential
    smoothing", 2008.

    Parameters
    ----------
    seasons
        Rows of each season.
    """

    name: ClassVar[str] = "ets"

    def __init__(self, seasons: Sequence[int] = (144,)) -> None:
        self._seasons = checked_seasons(seasons)

    @property
    def least(self) -> int:
        """Two of the shortest season and a row."""
        return 2 * self._seasons[0] + 1

    def _learn(self, rows: _Floats) -> None:
        models = need("statsforecast.models", self.name)
        self._scale = ColumnScaling.of(rows)
        scaled = self._scale.down(rows)
        self._known = [season for season in self._seasons if len(rows) > 2 * season]
        self._cycles = [np.zeros((season, rows.shape[1])) for season in self._known]
        self._alpha, self._beta, self._phi = (np.ones(rows.shape[1]) * x for x in (1.0, 0.0, 1.0))
        for place, column in enumerate(scaled.T):
            if np.ptp(column) == 0:
                continue
            parts = models.MSTL(self._known, trend_forecaster=models.Naive()).fit(column).model_
            rest = column.copy()
            for season, cycle in zip(self._known, self._cycles, strict=True):
                name = "seasonal" if len(self._known) == 1 else f"seasonal{season}"
                values = np.asarray(parts[name])
                # Values are stored by row number modulo the season.
                last = np.arange(len(rows) - season, len(rows))
                cycle[last % season, place] = values[last]
                rest -= values
            found = models.AutoETS(model="ZZN").fit(rest).model_
            self._set(place, found)

    def _set(self, place: int, found: dict[str, object]) -> None:
        alpha, beta, _, phi = (float(x) if np.isfinite(x) else np.nan for x in np.asarray(found["par"])[:4])
        self._alpha[place] = alpha if np.isfinite(alpha) else 1.0
        self._beta[place] = beta if np.isfinite(beta) else 0.0
        self._phi[place] = phi if np.isfinite(phi) else 1.0

    def _begin(self, rows: _Floats) -> None:
        self._count = 0
        self._level = self._scale.down(rows[:1])[0] - self._season_at(0)
        self._trend = np.zeros(rows.shape[1])
        self._advance(rows)

    def _advance(self, rows: _Floats) -> None:
        for row in self._scale.down(rows):
            expected = self._level + self._phi * self._trend
            error = row - self._season_at(self._count) - expected
            self._level = expected + self._alpha * error
            self._trend = self._phi * self._trend + self._beta * error
            self._count += 1

    def _season_at(self, row: int) -> _Floats:
        total = np.zeros(len(self._alpha))
        for season, cycle in zip(self._known, self._cycles, strict=True):
            total += cycle[row % season]
        return total

    def _expect(self, steps: int) -> _Floats:
        found = np.empty((steps, len(self._alpha)))
        ahead, damp = self._level, self._phi.copy()
        for step in range(steps):
            ahead = ahead + damp * self._trend
            damp = damp * self._phi
            found[step] = ahead + self._season_at(self._count + step)
        return self._scale.up(found)
