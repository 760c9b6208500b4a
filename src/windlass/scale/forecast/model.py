"""The base class of Windlass's forecasters: checks, and quantiles from past errors."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.model import InputError
from windlass.scale.forecast.rows import filled

_Floats = NDArray[np.float64]

#: Maximum number of last rows that a forecaster computes its errors from.
_TRIALS = 2000


class ForecastModel:
    """A forecaster with parameters, learned once, and a state that each new row updates.

    A subclass has a ``name`` and implements ``_learn`` (parameters), ``_begin`` (the state after some rows),
    ``_advance`` (the state after more rows) and ``_expect`` (the forecast). Forecasts are never below 0.

    Quantiles are conformal: the state is reset to before the last third of the training rows, at most 2,000,
    and the model forecasts from each of these rows. A quantile is the forecast plus that quantile of the
    errors, for each column and step. Rows that arrive after ``fit`` do not change the errors.
    """

    name: ClassVar[str] = ""

    @property
    def least(self) -> int:
        """Number of rows that it needs to learn from."""
        return 2

    def fit(self, series: ArrayLike) -> Self:
        """Learn from (t, k) rows.

        Raises
        ------
        InputError
            Fewer than :attr:`least` rows, a negative or infinite value, or a column without values.
        """
        rows = filled(series)
        if len(rows) < self.least:
            raise InputError(f"{self.name}: {len(rows)} rows of history, expected at least {self.least}")
        self._rows = rows
        self._offsets: dict[tuple[int, tuple[float, ...]], _Floats] = {}
        self._learn(rows)
        self._begin(rows)
        self._memo: tuple[int, _Floats] | None = None
        self._latest = rows[-1].copy()
        return self

    def forecast(self, steps: int, quantiles: Sequence[float] | None = None) -> _Floats:
        """Return the mean forecast (steps, k), or quantiles (q, steps, k).

        Raises
        ------
        InputError
            The forecaster was not fitted, ``steps`` is below 1, or a quantile is not between 0 and 1.
        """
        if steps < 1:
            raise InputError(f"{self.name}: steps is {steps}, expected at least 1")
        if not hasattr(self, "_rows"):
            raise InputError(f"{self.name}: forecast() called before fit()")
        if quantiles is None:
            return self._mean(steps)
        wanted = tuple(float(q) for q in quantiles)
        if not all(0 < q < 1 for q in wanted):
            raise InputError(f"{self.name}: quantiles are {wanted}, expected numbers between 0 and 1")
        return np.maximum(self._quantiles(steps, wanted), 0.0)

    def update(self, new_rows: ArrayLike) -> None:
        """Add rows that followed; (t, k), or (k,) for one.

        Raises
        ------
        InputError
            A value is negative or infinite, or the number of columns differs.
        """
        found = np.asarray(new_rows, dtype=np.float64)
        rows = filled(found[None, :] if found.ndim == 1 else found, self._latest, "new rows")
        if len(rows):
            self._advance(rows)
            self._memo = None
            self._latest = rows[-1].copy()

    def _learn(self, rows: _Floats) -> None:
        """Learn parameters from all rows."""

    def _begin(self, rows: _Floats) -> None:
        """Set the state after these rows, with the learned parameters."""
        raise NotImplementedError

    def _advance(self, rows: _Floats) -> None:
        """Update the state with these additional rows."""
        raise NotImplementedError

    def _expect(self, steps: int) -> _Floats:
        """Return the forecast (steps, k); it may be negative."""
        raise NotImplementedError

    def _quantiles(self, steps: int, wanted: tuple[float, ...]) -> _Floats:
        key = (steps, wanted)
        if key not in self._offsets:
            self._offsets[key] = offsets(self._errors(steps), wanted)
        return self._mean(steps) + self._offsets[key]

    def _mean(self, steps: int) -> _Floats:
        # Policies request the mean and then quantiles of the same row.
        if self._memo is None or self._memo[0] != steps:
            self._memo = (steps, np.maximum(self._expect(steps), 0.0))
        return self._memo[1].copy()

    def _errors(self, steps: int) -> _Floats:
        """Return errors (trials, steps, k) of forecasts of the last training rows, truth less forecast."""
        rows = self._rows
        trials = max(1, min(_TRIALS, len(rows) // 3) - steps + 1)
        first = max(1, len(rows) - trials - steps + 1)
        other = copy.copy(self)
        other._begin(rows[:first])
        errors = np.empty((max(0, len(rows) - steps - first + 1), steps, rows.shape[1]))
        for trial in range(len(errors)):
            now = first + trial
            errors[trial] = rows[now : now + steps] - np.maximum(other._expect(steps), 0.0)
            other._advance(rows[now : now + 1])
        return errors if len(errors) else np.zeros((1, steps, rows.shape[1]))


def offsets(errors: _Floats, quantiles: Sequence[float]) -> _Floats:
    """Return conformal quantiles (q, steps, k) of errors (n, steps, k), slightly further out than the sample's.

    Of n errors that are exchangeable with the next one, the one of rank ⌈(n + 1) q⌉ is at least as large as
    the next with probability q (Vovk et al., "Algorithmic Learning in a Random World", 2005). Quantiles below
    one half are computed symmetrically.

    Examples
    --------
    >>> offsets(np.arange(1.0, 10.0).reshape(9, 1, 1), [0.1, 0.5, 0.9]).ravel().tolist()
    [1.0, 5.0, 9.0]
    """
    count = len(errors)
    levels = np.asarray(quantiles)
    up = np.ceil((count + 1) * levels - 1e-9) - 1
    down = np.floor((count + 1) * levels + 1e-9) - 1
    ranks = np.where(levels >= 0.5, up, down).clip(0, count - 1).astype(np.int64)
    return np.sort(errors, axis=0)[ranks]
