"""The protocol of forecasters, and an adapter for objects with the same methods."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.model import InputError

_Floats = NDArray[np.float64]

#: Number of last errors that an adapted forecaster computes quantiles from.
_TRIALS = 1000


class Forecaster(Protocol):
    """A forecaster of a series.

    A class with a ``name`` and these methods, in a file of ``models/``, is registered under its name.
    """

    @property
    def least(self) -> int:
        """Number of rows that it needs to learn from; with fewer, :meth:`fit` raises."""
        ...

    def fit(self, series: ArrayLike) -> Self:
        """Learn from (t, k) rows, 0 or more, NaN for gaps. Scaling uses these rows only."""
        ...

    def forecast(self, steps: int, quantiles: Sequence[float] | None = None) -> _Floats:
        """Return the mean forecast (steps, k), or quantiles (q, steps, k); 0 or more."""
        ...

    def update(self, new_rows: ArrayLike) -> None:
        """Add rows that followed, without learning from them again."""
        ...


class Adapted:
    """An adapter that checks the methods and the results of a forecaster.

    If its ``forecast`` takes no quantiles, they are computed from past errors: before each update the adapter
    requests a forecast of one step. Before the first update, all quantiles equal the forecast.

    Parameters
    ----------
    made
        The object, with ``fit``, ``forecast`` and ``update``.

    Raises
    ------
    InputError
        The object lacks a method.

    Examples
    --------
    >>> class Mean:
    ...     def fit(self, series): self.mean = np.mean(series, axis=0); return self
    ...     def forecast(self, steps): return np.tile(self.mean, (steps, 1))
    ...     def update(self, new_rows): pass
    >>> Adapted(Mean()).fit([[1.0], [3.0]]).forecast(2).tolist()
    [[2.0], [2.0]]
    """

    name = "adapted"
    least = 2

    def __init__(self, made: Any) -> None:
        for method in ("fit", "forecast", "update"):
            if not callable(getattr(made, method, None)):
                raise InputError(f"{type(made).__name__} has no method {method}(), expected a forecaster")
        self._made = made
        self._native = "quantiles" in inspect.signature(made.forecast).parameters
        self._width = 0
        self._errors: list[_Floats] = []

    def fit(self, series: ArrayLike) -> Self:
        """See :meth:`Forecaster.fit`."""
        rows = np.asarray(series, dtype=np.float64)
        if rows.ndim != 2:
            raise InputError(f"series has shape {rows.shape}, expected (rows, columns)")
        self._made.fit(rows)
        self._width, self._errors = rows.shape[1], []
        return self

    def forecast(self, steps: int, quantiles: Sequence[float] | None = None) -> _Floats:
        """See :meth:`Forecaster.forecast`.

        Raises
        ------
        InputError
            The object's result has another shape or is not finite.
        """
        if quantiles is not None and self._native:
            return self._checked(self._made.forecast(steps, quantiles), (len(quantiles), steps, self._width))
        mean = self._checked(self._made.forecast(steps), (steps, self._width))
        if quantiles is None:
            return mean
        errors = np.array(self._errors) if self._errors else np.zeros((1, self._width))
        # Errors of one step; for several independent steps they grow with the square root.
        off = np.quantile(errors, quantiles, axis=0)[:, None, :] * np.sqrt(np.arange(1, steps + 1))[:, None]
        return np.maximum(mean + off, 0.0)

    def update(self, new_rows: ArrayLike) -> None:
        """See :meth:`Forecaster.update`."""
        rows = np.atleast_2d(np.asarray(new_rows, dtype=np.float64))
        if not self._native and len(rows):
            expected = self._checked(self._made.forecast(1), (1, self._width))[0]
            self._errors = [*self._errors[1 - _TRIALS :], np.nan_to_num(rows[0] - expected)]
        self._made.update(rows)

    def _checked(self, values: ArrayLike, shape: tuple[int, ...]) -> _Floats:
        found = np.asarray(values, dtype=np.float64)
        if found.shape != shape or not np.isfinite(found).all():
            what = f"shape {found.shape}" if found.shape != shape else "a value that is not finite"
            raise InputError(
                f"{type(self._made).__name__}.forecast() returned {what}, expected {shape} numbers"
            )
        return np.maximum(found, 0.0)
