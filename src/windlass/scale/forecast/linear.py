"""Forecasters that are linear in the last rows, with weights from ridge regression in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import whole
from windlass.scale.forecast.level_shifts import LevelShifts
from windlass.scale.forecast.model import ForecastModel
from windlass.scale.forecast.rows import Tail
from windlass.scale.forecast.scaling import ColumnScaling

_Floats = NDArray[np.float64]

#: Candidate ridge penalties, relative to the size of the inputs; the best on the last fifth of the rows is
#: used.
_PENALTIES = (1e-6, 1e-4, 1e-2, 1e-1)


class Linear(ForecastModel):
    """A linear map of the last ``window`` rows, with separate weights for each of ``horizon`` steps.

    All columns share the weights. Each column is scaled by its largest value, and the last value is
    subtracted first and added back to the forecast; if nothing can be learned, this is the naive forecast.
    Beyond the horizon it uses its own forecasts as input.

    If the level of a column shifts (:class:`~windlass.scale.forecast.level_shifts.LevelShifts`), the rows before are
    moved to the new level, in training and later. The pattern of the rows remains, and no weight depends on the size of
    a shift. The size of a later shift is the difference from the forecast, so it does not include the usual step.

    A subclass defines the features of a window (``_features``).

    Parameters
    ----------
    window
        Number of input rows.
    horizon
        Number of steps forecast at once.
    """

    def __init__(self, window: int = 288, horizon: int = 6) -> None:
        self._window = whole("window", window, 2)
        self._horizon = whole("horizon", horizon, 1)

    @property
    def least(self) -> int:
        """Two windows and the horizon, and enough rows for cases in both the first four fifths and the last fifth."""
        return max(2 * self._window + self._horizon, self._window + 2 * self._horizon, 5 * self._horizon + 5)

    def _features(self, windows: _Floats) -> _Floats:
        """Return features (n, f) of windows (n, window) whose last value is 0."""
        raise NotImplementedError

    def _learn(self, rows: _Floats) -> None:
        self._shifts = LevelShifts.of(rows)
        levelled = self._shifts.levelled(rows)
        # Levelled rows may be near 0 or below it, so their range is the scale.
        shifted, reach = self._shifts.among(rows).any(axis=0), np.ptp(levelled, axis=0)
        self._scale = ColumnScaling(np.where(shifted & (reach > 0), reach, ColumnScaling.of(rows).most))
        scaled = self._scale.down(levelled)
        split = max(self._window + self._horizon, len(rows) * 4 // 5)
        late = self._cases(scaled[split - self._window :])
        early = _Sums.of(*self._cases(scaled[:split]))
        errors = [np.mean((late[0] @ early.weights(penalty) - late[1]) ** 2) for penalty in _PENALTIES]
        weights = _Sums.of(*self._cases(scaled)).weights(_PENALTIES[int(np.argmin(errors))])
        # The features are linear in the window, so the map is folded into the weights once.
        self._direct = np.ascontiguousarray((self._features(np.eye(self._window)) @ weights).T)

    def _cases(self, scaled: _Floats) -> tuple[_Floats, _Floats]:
        """Return inputs (n, f) and targets (n, horizon) of all columns."""
        view = np.lib.stride_tricks.sliding_window_view
        spans = view(scaled, self._window + self._horizon, axis=0).reshape(-1, self._window + self._horizon)
        last = spans[:, self._window - 1, None]
        return self._features(spans[:, : self._window] - last), spans[:, self._window :] - last

    def _begin(self, rows: _Floats) -> None:
        shifted = np.flatnonzero(self._shifts.among(rows).any(axis=1))
        regular = 1 + int(shifted[0]) if len(shifted) else len(rows)
        missing = max(0, self._window - regular)
        first = np.concatenate([np.repeat(rows[:1], missing, axis=0), rows[:regular]])
        self._tail = Tail(first, self._window)
        self._advance(rows[regular:])

    def _advance(self, rows: _Floats) -> None:
        shifts = self._shifts.among(np.concatenate([self._tail.last(1), rows])) != 0
        begin = 0
        for at in np.flatnonzero(shifts.any(axis=1)).tolist():
            self._tail.add(rows[begin:at])
            expected = self._scale.up(self._ahead(self._scale.down(self._tail.last(self._window)))[0])
            self._tail.shift(np.where(shifts[at], rows[at] - expected, 0.0))
            begin = at
        self._tail.add(rows[begin:])

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
    """Sufficient statistics of a ridge regression, for any penalty."""

    gram: _Floats
    cross: _Floats

    @staticmethod
    def of(inputs: _Floats, truths: _Floats) -> _Sums:
        return _Sums(inputs.T @ inputs, inputs.T @ truths)

    def weights(self, penalty: float) -> _Floats:
        # The penalty is relative to the mean of the diagonal; the floor keeps a constant series solvable,
        # with weights 0.
        strength = penalty * max(float(np.trace(self.gram)) / len(self.gram), 1e-12)
        return np.asarray(np.linalg.solve(self.gram + strength * np.eye(len(self.gram)), self.cross))
