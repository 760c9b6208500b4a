"""Forecasters that are linear in the last rows: weights by ridge regression, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import whole
from windlass.scale.forecast.model import ForecastModel
from windlass.scale.forecast.rows import Tail
from windlass.scale.forecast.scaling import ColumnScaling

_Floats = NDArray[np.float64]

#: How strongly weights are drawn to 0, relative to the size of the inputs; the one that forecasts the last fifth best.
_PENALTIES = (1e-6, 1e-4, 1e-2, 1e-1)


class Linear(ForecastModel):
    """Weights over the last ``window`` rows, one set for each of ``horizon`` steps, the same for all columns.

    Each column is scaled by its largest value, and the last value is taken away first and added again: where nothing
    can be learned, this is the naive forecast. Beyond the horizon it goes on from its own forecasts. A subclass says
    what a window is turned into (``_features``).

    Parameters
    ----------
    window
        How many of the last rows it looks at.
    horizon
        How many steps it learns to forecast at once.
    """

    def __init__(self, window: int = 288, horizon: int = 6) -> None:
        self._window = whole("window", window, 2)
        self._horizon = whole("horizon", horizon, 1)

    @property
    def least(self) -> int:
        """Two windows and the steps; and as many as give cases to both its first four fifths and its last fifth."""
        return max(2 * self._window + self._horizon, self._window + 2 * self._horizon, 5 * self._horizon + 5)

    def _features(self, windows: _Floats) -> _Floats:
        """(n, f) of (n, window) windows whose last value is 0."""
        raise NotImplementedError

    def _learn(self, rows: _Floats) -> None:
        self._scale = ColumnScaling.of(rows)
        scaled = self._scale.down(rows)
        split = max(self._window + self._horizon, len(rows) * 4 // 5)
        late = self._cases(scaled[split - self._window :])
        early = _Sums.of(*self._cases(scaled[:split]))
        errors = [np.mean((late[0] @ early.weights(penalty) - late[1]) ** 2) for penalty in _PENALTIES]
        weights = _Sums.of(*self._cases(scaled)).weights(_PENALTIES[int(np.argmin(errors))])
        # What the features make of a window is linear, so that it can be done to the weights, once.
        self._direct = np.ascontiguousarray((self._features(np.eye(self._window)) @ weights).T)

    def _cases(self, scaled: _Floats) -> tuple[_Floats, _Floats]:
        """Inputs (n, f) and what followed (n, horizon), of all columns."""
        view = np.lib.stride_tricks.sliding_window_view
        spans = view(scaled, self._window + self._horizon, axis=0).reshape(-1, self._window + self._horizon)
        last = spans[:, self._window - 1, None]
        return self._features(spans[:, : self._window] - last), spans[:, self._window :] - last

    def _begin(self, rows: _Floats) -> None:
        missing = max(0, self._window - len(rows))
        self._tail = Tail(np.concatenate([np.repeat(rows[:1], missing, axis=0), rows]), self._window)

    def _advance(self, rows: _Floats) -> None:
        self._tail.add(rows)

    def _expect(self, steps: int) -> _Floats:
        window = self._scale.down(self._tail.last(self._window))
        found = self._ahead(window)
        while len(found) < steps:
            found = np.concatenate([found, self._ahead(np.concatenate([window, found])[-self._window :])])
        return self._scale.up(found[:steps])

    def _ahead(self, window: _Floats) -> _Floats:
        last = window[-1]
        return np.asarray(self._direct @ (window - last) + last)


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """What a regression needs of its cases, for any penalty."""

    gram: _Floats
    cross: _Floats

    @staticmethod
    def of(inputs: _Floats, truths: _Floats) -> _Sums:
        return _Sums(inputs.T @ inputs, inputs.T @ truths)

    def weights(self, penalty: float) -> _Floats:
        # Relative to the mean of the diagonal; the floor keeps a constant series solvable, with weights of 0.
        strength = penalty * max(float(np.trace(self.gram)) / len(self.gram), 1e-12)
        return np.asarray(np.linalg.solve(self.gram + strength * np.eye(len(self.gram)), self.cross))
