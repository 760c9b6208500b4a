"""Rows of a series: checked, their gaps filled, and the latest of them kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.model import InputError

_Floats = NDArray[np.float64]


def filled(series: ArrayLike, before: _Floats | None = None, name: str = "series") -> _Floats:
    """(t, k) rows without gaps: where a value is missing, the one before it holds.

    What is missing at the very beginning is taken from the first value that is there.

    Parameters
    ----------
    series
        (t, k), or (t,) for one column; 0 or more, NaN where nothing was measured.
    before
        (k,) the last row before these, if there is one.
    name
        How messages call the series.

    Returns
    -------
    A copy.

    Raises
    ------
    InputError
        It has no such shape, a value is negative or infinite, or a column has no value at all.

    Examples
    --------
    >>> filled([[np.nan], [3.0], [np.nan], [5.0]]).ravel().tolist()
    [3.0, 3.0, 3.0, 5.0]
    """
    rows = np.array(series, dtype=np.float64)
    if rows.ndim == 1:
        rows = rows[:, None]
    width = rows.shape[1] if before is None and rows.ndim == 2 else len(before) if before is not None else 0
    if rows.ndim != 2 or width == 0 or rows.shape[1] != width:
        expected = "(rows, columns)" if before is None else f"(rows, {width})"
        raise InputError(f"{name} has shape {np.shape(series)}, expected {expected}")
    # NaN compares as false, and stands for a gap; everything else has to be a number of 0 or more.
    if not (rows >= 0).all() or not (rows < np.inf).all():
        _refuse(rows, name)
        _fill(rows, before, name)
    return rows


def _refuse(rows: _Floats, name: str) -> None:
    bad = (rows < 0) | (rows == np.inf)
    if bad.any():
        row, column = (int(x) for x in np.argwhere(bad)[0])
        raise InputError(
            f"{name}: row {row}, column {column} is {rows[row, column]}, expected 0 or more, or NaN for a gap"
        )


def _fill(rows: _Floats, before: _Floats | None, name: str) -> None:
    for place, column in enumerate(rows.T):
        known = ~np.isnan(column)
        if before is not None:
            first = before[place]
        elif known.any():
            first = column[known.argmax()]
        else:
            raise InputError(f"{name}: column {place} has no value at all, expected at least one")
        latest = np.maximum.accumulate(np.where(known, np.arange(len(column)), -1))
        column[:] = np.where(latest >= 0, column[latest], first)


class Tail:
    """The last rows of a series that grows, in a row of memory; adding one costs no copy of the others.

    Parameters
    ----------
    rows
        What there is.
    most
        How many of the last ones are wanted.

    Examples
    --------
    >>> tail = Tail(np.array([[1.0], [2.0], [3.0]]), most=2)
    >>> tail.add(np.array([[4.0]]))
    >>> tail.last(2).ravel().tolist()
    [3.0, 4.0]
    """

    __slots__ = ("_end", "_memory", "most")

    def __init__(self, rows: _Floats, most: int) -> None:
        self.most = most
        self._memory = np.empty((2 * most + 64, rows.shape[1]))
        kept = rows[-most:]
        self._memory[: len(kept)] = kept
        self._end = len(kept)

    def add(self, rows: _Floats) -> None:
        """Rows that follow."""
        rows = rows[-self.most :]
        if self._end + len(rows) > len(self._memory):
            kept = self._memory[self._end - self.most : self._end].copy()
            self._memory[: self.most] = kept
            self._end = self.most
        self._memory[self._end : self._end + len(rows)] = rows
        self._end += len(rows)

    def last(self, count: int) -> _Floats:
        """(count, k) the last rows, oldest first; not to be written to."""
        return self._memory[self._end - count : self._end]
