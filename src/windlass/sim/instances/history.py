"""The numbers of instances that an autoscaler gets as history, and its answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.sim.instances.result import Decisions

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


class InstanceHistory:
    """History of needed instances, one row per periodic decision, and a log of all answers.

    Parameters
    ----------
    types
        Number of instance types.
    earlier
        (t, types) instances that were needed before the first decision, one row per period; None for none.

    Raises
    ------
    InputError
        The earlier history has the wrong shape, or a number in it is negative or not finite.

    Examples
    --------
    >>> history = InstanceHistory(1, np.array([[3.0]]))
    >>> history.show(0, np.array([2.5]))
    >>> history.rows().tolist()
    [[3.0], [2.5]]
    """

    def __init__(self, types: int, earlier: _Floats | None = None) -> None:
        before = np.empty((0, types)) if earlier is None else np.asarray(earlier, np.float64)
        if before.ndim != 2 or before.shape[1] != types:
            raise InputError(f"history has shape {before.shape}, expected (t, {types})")
        if not (np.isfinite(before) & (before >= 0)).all():
            raise InputError("history: expected finite numbers of 0 or more")
        self._first = len(before)
        self._needed = np.concatenate((before, np.zeros((1024, types))))
        self._until = self._first
        self._time: list[float] = []
        self._at: list[_Floats] = []
        self._totals: list[_Ints] = []
        self._there: list[_Ints] = []
        self._why: list[tuple[str, ...]] = []

    def show(self, step: int, needed: _Floats) -> None:
        """Record the instances that are needed at a periodic decision, counted from 0."""
        row = self._first + step
        if row == len(self._needed):
            self._needed = np.concatenate((self._needed, np.zeros_like(self._needed)))
        self._needed[row] = needed
        self._until = row + 1

    def rows(self) -> _Floats:
        """Return all rows so far, read-only."""
        rows = self._needed[: self._until]
        rows.flags.writeable = False
        return rows

    def note(self, now: float, needed: _Floats, totals: _Ints, there: _Ints, why: tuple[str, ...]) -> None:
        """Log an answer, at a periodic decision or a poll."""
        self._time.append(now)
        self._at.append(needed)
        self._totals.append(totals)
        self._there.append(there)
        self._why.append(why)

    def decisions(self) -> Decisions:
        """Return all answers."""
        types, count = self._needed.shape[1], len(self._time)
        return Decisions(
            np.array(self._time),
            np.array(self._at, np.float64).reshape(count, types),
            np.array(self._totals, np.int64).reshape(count, types),
            np.array(self._there, np.int64).reshape(count, types),
            tuple(self._why),
        )
