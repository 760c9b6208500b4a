"""Exponential smoothing with a trend and a season (Holt-Winters)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number
from windlass.scale.forecast.model import ForecastModel
from windlass.scale.forecast.seasons import checked_seasons

_Floats = NDArray[np.float64]


class HoltWinters(ForecastModel):
    """A level, a trend and a value for each row of the season, each smoothed exponentially.

    The season is additive. The paper's is multiplicative, which counts that are often 0 do not allow. The
    default parameters are the paper's, and so is the use of the longest season.

    Parameters
    ----------
    seasons
        Rows of each season; the longest is used.
    alpha, beta, gamma
        Smoothing factors of level, trend and season; the paper swaps the names of level and trend.

    Examples
    --------
    >>> steady = HoltWinters(seasons=[2]).fit([[1.0], [5.0]] * 10)
    >>> steady.forecast(3).round(6).ravel().tolist()
    [1.0, 5.0, 1.0]
    """

    name: ClassVar[str] = "holt-winters"

    def __init__(
        self, seasons: Sequence[int] = (144,), alpha: float = 0.5, beta: float = 0.001, gamma: float = 0.3
    ) -> None:
        self._season = max(checked_seasons(seasons))
        self._alpha = number("alpha", alpha, 0.0, 1.0)
        self._beta = number("beta", beta, 0.0, 1.0)
        self._gamma = number("gamma", gamma, 0.0, 1.0)

    @property
    def least(self) -> int:
        """Two seasons: the first initialises the season, the second corrects it."""
        return 2 * self._season

    def _begin(self, rows: _Floats) -> None:
        first = rows[: self._season]
        self._level = first.mean(axis=0)
        self._trend = np.zeros(rows.shape[1])
        values = np.zeros((self._season, rows.shape[1]))
        values[: len(first)] = first - self._level
        self._values = values
        self._place = len(first) % self._season
        self._advance(rows[self._season :])

    def _advance(self, rows: _Floats) -> None:
        level, trend, values, place = self._level, self._trend, self._values, self._place
        alpha, beta, gamma = self._alpha, self._beta, self._gamma
        for row in rows:
            season, before, expected = values[place].copy(), level, level + trend
            level = alpha * (row - season) + (1 - alpha) * expected
            trend = beta * (level - before) + (1 - beta) * trend
            values[place] = gamma * (row - expected) + (1 - gamma) * season
            place = (place + 1) % self._season
        self._level, self._trend, self._place = level, trend, place

    def _expect(self, steps: int) -> _Floats:
        ahead = np.arange(1, steps + 1)
        season = self._values[(self._place + ahead - 1) % self._season]
        return np.asarray(self._level + ahead[:, None] * self._trend + season)
