"""Shifts of the level of a series, and rows moved to the level of the last one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

#: A step of more than this many times the fifth largest one is a shift. With 3, no step of the recorded series of
#: Helios, Philly and openb is one; with 2, the largest two of Philly are, and its error grows by 1 %.
_TIMES = 3.0
_RANK = 5
#: With fewer steps, it is unknown which ones are usual, and none is a shift.
_LEAST = 20


@dataclass(frozen=True, slots=True, eq=False)
class LevelShifts:
    """Which steps from one row to the next are shifts of the level.

    A shift is a step of more than three times the fifth largest one of the training rows, in each column on its own.
    Large steps that recur, such as those of a daily batch, are therefore no shifts. An outlier is two shifts that
    cancel.

    Parameters
    ----------
    limit
        (k,) the largest step of each column that is no shift.

    Examples
    --------
    >>> rows = np.array([[4.0], [5.0]] * 10 + [[105.0], [104.0]])
    >>> LevelShifts.of(rows).levelled(rows).ravel().tolist()[-6:]
    [104.0, 105.0, 104.0, 105.0, 105.0, 104.0]
    """

    limit: _Floats

    @staticmethod
    def of(rows: _Floats) -> LevelShifts:
        """Return the shifts of training rows (t, k). Of fewer than 21 rows there are none."""
        if len(rows) <= _LEAST:
            return LevelShifts(np.full(rows.shape[1], np.inf))
        return LevelShifts(_TIMES * np.sort(np.abs(np.diff(rows, axis=0)), axis=0)[-_RANK])

    def among(self, rows: _Floats) -> _Floats:
        """Return (t - 1, k) the steps between rows (t, k) that are shifts; all others are 0."""
        steps = np.diff(rows, axis=0)
        return np.where(np.abs(steps) > self.limit, steps, 0.0)

    def levelled(self, rows: _Floats) -> _Floats:
        """Return rows (t, k) without shifts; the last row is unchanged, earlier ones may become negative."""
        shifts = self.among(rows)
        if not shifts.any():
            return rows
        moved = rows.copy()
        moved[:-1] += np.cumsum(shifts[::-1], axis=0)[::-1]
        return moved
