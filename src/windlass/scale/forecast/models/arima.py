"""ARIMA: an autoregressive moving average of the differences between rows."""

import warnings
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter, lfiltic

from windlass.model import InputError
from windlass.model.values import whole
from windlass.scale.forecast.extras import need
from windlass.scale.forecast.model import ForecastModel
from windlass.scale.forecast.scaling import ColumnScaling

_Floats = NDArray[np.float64]


class Arima(ForecastModel):
    """ARIMA(p, 1, q), one model for each column; the paper's is ARIMA(7, 1, 7).

    statsforecast estimates the coefficients by conditional sums of squares. The last p differences and q
    errors are kept as state, so an update costs one row; filtering the whole series again for each row would
    take thousands of times as long.

    Parameters
    ----------
    p, q
        Number of autoregressive and moving-average terms.

    Raises
    ------
    InputError
        p or q is out of bounds.
    """

    name: ClassVar[str] = "arima"

    def __init__(self, p: int = 7, q: int = 7) -> None:
        self._p, self._q = whole("p", p, 0), whole("q", q, 0)
        if p + q == 0:
            raise InputError("p and q are both 0, expected at least one above 0")

    @property
    def least(self) -> int:
        """Ten rows for each coefficient."""
        return 10 * (self._p + self._q + 1)

    def _learn(self, rows: _Floats) -> None:
        models = need("statsforecast.models", self.name)
        self._scale = ColumnScaling.of(rows)
        scaled = self._scale.down(rows)
        self._ar = np.zeros((scaled.shape[1], self._p))
        self._ma = np.zeros((scaled.shape[1], self._q))
        for place, column in enumerate(scaled.T):
            if np.ptp(column) == 0:
                continue
            with warnings.catch_warnings():
                # A search that did not converge still gives usable coefficients; the backtest measures their
                # quality.
                warnings.filterwarnings("ignore", "possible convergence problem")
                fitted = models.ARIMA(order=(self._p, 1, self._q), method="CSS").fit(column).model_
            found = fitted["coef"]
            self._ar[place] = [found.get(f"ar{x + 1}", 0.0) for x in range(self._p)]
            self._ma[place] = _invertible([found.get(f"ma{x + 1}", 0.0) for x in range(self._q)])

    def _begin(self, rows: _Floats) -> None:
        scaled = self._scale.down(rows)
        kinds = rows.shape[1]
        self._last = scaled[0]
        self._steps = np.zeros((kinds, self._p))
        self._off = np.zeros((kinds, self._q))
        self._take(scaled[1:])

    def _advance(self, rows: _Floats) -> None:
        self._take(self._scale.down(rows))

    def _take(self, scaled: _Floats) -> None:
        if not len(scaled):
            return
        steps = np.diff(np.concatenate([self._last[None], scaled]), axis=0)
        steps_before, off_before = self._steps, self._off
        self._steps = np.concatenate([steps[::-1].T, steps_before], axis=1)[:, : self._p]
        if len(steps) == 1:
            error = steps[0] - (self._ar * steps_before).sum(axis=1) - (self._ma * off_before).sum(axis=1)
            self._off = np.concatenate([error[:, None], off_before], axis=1)[:, : self._q]
        else:
            errors = np.array(
                [
                    self._errors_of(x, steps[:, x], steps_before[x], off_before[x])
                    for x in range(len(self._ar))
                ]
            )
            self._off = np.concatenate([errors[:, ::-1], off_before], axis=1)[:, : self._q]
        self._last = scaled[-1]

    def _errors_of(self, column: int, steps: _Floats, before: _Floats, off: _Floats) -> _Floats:
        above, below = np.concatenate([[1.0], -self._ar[column]]), np.concatenate([[1.0], self._ma[column]])
        if len(above) == len(below) == 1:
            return steps
        state = lfiltic(above, below, off, before)
        return np.asarray(lfilter(above, below, steps, zi=state)[0])

    def _expect(self, steps: int) -> _Floats:
        last, recent, off = self._last, self._steps, self._off
        found = np.empty((steps, len(last)))
        for row in range(steps):
            step = (self._ar * recent).sum(axis=1) + (self._ma * off).sum(axis=1)
            last = last + step
            found[row] = last
            recent = np.concatenate([step[:, None], recent], axis=1)[:, : self._p]
            off = np.concatenate([np.zeros((len(last), 1)), off], axis=1)[:, : self._q]
        return self._scale.up(found)


def _invertible(found: list[float]) -> _Floats:
    """Return an equivalent moving average with all roots inside the unit circle; otherwise errors would diverge."""
    if not found or not any(found):
        return np.array(found)
    roots = np.roots([1.0, *found])
    inside = np.where(np.abs(roots) > 0.999, roots / np.maximum(np.abs(roots), 1e-12) ** 2 * 0.999, roots)
    return np.real(np.poly(inside))[1 : len(found) + 1]
