"""Rows of a series: validation, gap filling, and a buffer of the latest rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.model import InputError

_Floats = NDArray[np.float64]


def filled(series: ArrayLike, before: _Floats | None = None, name: str = "series") -> _Floats:
    """Check rows (t, k) and fill gaps with the value before.

    A gap at the beginning takes the first value of the column.

    Parameters
    ----------
    series
        (t, k), or (t,) for one column; 0 or more, NaN where nothing was measured.
    before
        (k,) the row before these, if any.
    name
        Name of the series in messages.

    Returns
    -------
    A copy.

    Raises
    ------
    InputError
        The shape is wrong, a value is negative or infinite, or a column has no value.

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
    # NaN marks a gap and compares as false; every other value must be 0 or more and finite.
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
            raise InputError(f"{name}: column {place} has no value, expected at least one")
        latest = np.maximum.accumulate(np.where(known, np.arange(len(column)), -1))
        column[:] = np.where(latest >= 0, column[latest], first)


class Tail:
    """The last rows of a growing series, in one buffer; adding a row does not copy the others.

    Parameters
    ----------
    rows
        The initial rows.
    most
        How many of the last rows to keep.

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
        """Add rows that follow."""
        rows = rows[-self.most :]
        if self._end + len(rows) > len(self._memory):
            kept = self._memory[self._end - self.most : self._end].copy()
            self._memory[: self.most] = kept
            self._end = self.most
        self._memory[self._end : self._end + len(rows)] = rows
        self._end += len(rows)

    def shift(self, change: _Floats) -> None:
        """Add ``change`` (k,) to all kept rows."""
        self._memory[max(0, self._end - self.most) : self._end] += change

    def last(self, count: int) -> _Floats:
        """Return the last rows (count, k), oldest first; the array must not be written to."""
        return self._memory[self._end - count : self._end]
