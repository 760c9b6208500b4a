"""What the forecasters of Windlass share: checks, and quantiles from how far off they were."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.model import InputError
from windlass.scale.forecast.rows import filled

_Floats = NDArray[np.float64]

#: How many of the last rows a forecaster tries itself on, to see how far off it is.
_TRIALS = 2000


class ForecastModel:
    """A forecaster that learns parameters once and keeps a state that rows move.

    A subclass has a ``name`` and says how to ``_learn`` parameters, how the state ``_begin``\\ s after some rows, how
    it ``_advance``\\ s, and what it ``_expect``\\ s. Forecasts are never below 0.

    Quantiles are conformal: the model is put back to before the last third of the rows that it learned from, 2,000 at
    most, and goes through them, forecasting at each. A quantile is the forecast plus that quantile of its errors, for
    each column and number of steps. Rows that come after ``fit`` do not change them.
    """

    name: ClassVar[str] = ""

    @property
    def least(self) -> int:
        """How many rows it needs to learn from."""
        return 2

    def fit(self, series: ArrayLike) -> Self:
        """Learn from (t, k) rows.

        Raises
        ------
        InputError
            There are fewer than :attr:`least`, or a value is negative or infinite, or a column has none.
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
        """(steps, k) what is expected, or (q, steps, k) by quantiles.

        Raises
        ------
        InputError
            It was not fitted, ``steps`` is below 1, or a quantile is not between 0 and 1.
        """
        if steps < 1:
            raise InputError(f"{self.name}: steps is {steps}, expected at least 1")
        if not hasattr(self, "_rows"):
            raise InputError(f"{self.name}: forecast() before fit(), expected fit() first")
        if quantiles is None:
            return self._mean(steps)
        wanted = tuple(float(q) for q in quantiles)
        if not all(0 < q < 1 for q in wanted):
            raise InputError(f"{self.name}: quantiles are {wanted}, expected numbers between 0 and 1")
        return np.maximum(self._quantiles(steps, wanted), 0.0)

    def update(self, new_rows: ArrayLike) -> None:
        """Rows that followed; (t, k), or (k,) for one.

        Raises
        ------
        InputError
            A value is negative or infinite, or there are more or fewer columns.
        """
        found = np.asarray(new_rows, dtype=np.float64)
        rows = filled(found[None, :] if found.ndim == 1 else found, self._latest, "new rows")
        if len(rows):
            self._advance(rows)
            self._memo = None
            self._latest = rows[-1].copy()

    def _learn(self, rows: _Floats) -> None:
        """Parameters, from all rows."""

    def _begin(self, rows: _Floats) -> None:
        """The state after these rows, by the parameters that were learned."""
        raise NotImplementedError

    def _advance(self, rows: _Floats) -> None:
        """The state after these rows more."""
        raise NotImplementedError

    def _expect(self, steps: int) -> _Floats:
        """(steps, k) the forecast, below 0 where it will."""
        raise NotImplementedError

    def _quantiles(self, steps: int, wanted: tuple[float, ...]) -> _Floats:
        key = (steps, wanted)
        if key not in self._offsets:
            self._offsets[key] = offsets(self._errors(steps), wanted)
        return self._mean(steps) + self._offsets[key]

    def _mean(self, steps: int) -> _Floats:
        # A policy asks for quantiles after the mean, of the same row.
        if self._memo is None or self._memo[0] != steps:
            self._memo = (steps, np.maximum(self._expect(steps), 0.0))
        return self._memo[1].copy()

    def _errors(self, steps: int) -> _Floats:
        """(trials, steps, k) how far the truth was above forecasts of the last rows that it learned from."""
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
    """(q, steps, k) quantiles of errors (n, steps, k), a little further out than the sample's own, as conformal ones
    are.

    Of n errors that are exchangeable with the next one, the one of rank ⌈(n + 1) q⌉ is at least as large as the next
    with chance q (Vovk et al., "Algorithmic Learning in a Random World", 2005). Below one half, the same from below.

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
