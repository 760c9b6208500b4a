"""What a forecaster is, and what makes one of any object that has the shape of one."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.model import InputError

_Floats = NDArray[np.float64]

#: How many of its last errors an adapted forecaster is known by.
_TRIALS = 1000


class Forecaster(Protocol):
    """Says how a series goes on.

    A class with a ``name`` and these methods, in a file of ``models/``, is found by its name.
    """

    @property
    def least(self) -> int:
        """How many rows it needs to learn from; with fewer, :meth:`fit` raises."""
        ...

    def fit(self, series: ArrayLike) -> Self:
        """Learn from (t, k) rows, 0 or more, NaN for gaps. Everything it scales, it scales by these rows alone."""
        ...

    def forecast(self, steps: int, quantiles: Sequence[float] | None = None) -> _Floats:
        """(steps, k) what is expected next, or (q, steps, k) by quantiles; 0 or more."""
        ...

    def update(self, new_rows: ArrayLike) -> None:
        """Rows that followed; what was learned stays as it is."""
        ...


class Adapted:
    """A forecaster made of any object with its shape: methods are checked, and so is what they return.

    Where its ``forecast`` takes no quantiles, they are told from how far off it was: before each update it is asked for
    one step. Until it was updated, all quantiles are the forecast.

    Parameters
    ----------
    made
        Has ``fit``, ``forecast`` and ``update``.

    Raises
    ------
    InputError
        It lacks a method.

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
        """As :meth:`Forecaster.fit`."""
        rows = np.asarray(series, dtype=np.float64)
        if rows.ndim != 2:
            raise InputError(f"series has shape {rows.shape}, expected (rows, columns)")
        self._made.fit(rows)
        self._width, self._errors = rows.shape[1], []
        return self

    def forecast(self, steps: int, quantiles: Sequence[float] | None = None) -> _Floats:
        """As :meth:`Forecaster.forecast`.

        Raises
        ------
        InputError
            What the object returned has another shape or is not finite.
        """
        if quantiles is not None and self._native:
            return self._checked(self._made.forecast(steps, quantiles), (len(quantiles), steps, self._width))
        mean = self._checked(self._made.forecast(steps), (steps, self._width))
        if quantiles is None:
            return mean
        errors = np.array(self._errors) if self._errors else np.zeros((1, self._width))
        # Errors of one step; of several independent ones they grow with the square root.
        off = np.quantile(errors, quantiles, axis=0)[:, None, :] * np.sqrt(np.arange(1, steps + 1))[:, None]
        return np.maximum(mean + off, 0.0)

    def update(self, new_rows: ArrayLike) -> None:
        """As :meth:`Forecaster.update`."""
        rows = np.atleast_2d(np.asarray(new_rows, dtype=np.float64))
        if not self._native and len(rows):
            expected = self._checked(self._made.forecast(1), (1, self._width))[0]
            self._errors = [*self._errors[1 - _TRIALS :], np.nan_to_num(rows[0] - expected)]
        self._made.update(rows)

    def _checked(self, values: ArrayLike, shape: tuple[int, ...]) -> _Floats:
        found = np.asarray(values, dtype=np.float64)
        if found.shape != shape or not np.isfinite(found).all():
            what = f"shape {found.shape}" if found.shape != shape else "a value that is not finite"
            raise InputError(f"{type(self._made).__name__}.forecast() gave {what}, expected {shape} numbers")
        return np.maximum(found, 0.0)
