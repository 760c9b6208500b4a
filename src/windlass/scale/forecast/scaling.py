"""Scaling of columns to a common range, by the training rows only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ColumnScaling:
    """Divides each column by its largest value; a column that is always 0 is unchanged.

    Parameters
    ----------
    most
        (k,) divisors.

    Examples
    --------
    >>> ColumnScaling.of(np.array([[0.0, 2.0], [0.0, 8.0]])).down(np.array([[3.0, 4.0]])).tolist()
    [[3.0, 0.5]]
    """

    most: _Floats

    @staticmethod
    def of(rows: _Floats) -> ColumnScaling:
        """Return the scaling of the training rows."""
        most = rows.max(axis=0)
        return ColumnScaling(np.where(most > 0, most, 1.0))

    def down(self, rows: _Floats) -> _Floats:
        """Scale rows to about 0 to 1."""
        return rows / self.most

    def up(self, rows: _Floats) -> _Floats:
        """Undo the scaling."""
        return rows * self.most
