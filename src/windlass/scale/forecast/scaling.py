"""Columns to a like size, by the rows that were learned from alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ColumnScaling:
    """Each column divided by its largest value; a column that is always 0 stays as it is.

    Parameters
    ----------
    most
        (k,) what columns are divided by.

    Examples
    --------
    >>> ColumnScaling.of(np.array([[0.0, 2.0], [0.0, 8.0]])).down(np.array([[3.0, 4.0]])).tolist()
    [[3.0, 0.5]]
    """

    most: _Floats

    @staticmethod
    def of(rows: _Floats) -> ColumnScaling:
        """Of the rows that a model learns from."""
        most = rows.max(axis=0)
        return ColumnScaling(np.where(most > 0, most, 1.0))

    def down(self, rows: _Floats) -> _Floats:
        """To about 0 to 1."""
        return rows / self.most

    def up(self, rows: _Floats) -> _Floats:
        """Back."""
        return rows * self.most
