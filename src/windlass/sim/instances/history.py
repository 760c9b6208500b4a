"""What an autoscaler was shown of the past, and what it answered."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.sim.instances.result import Decisions

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


class InstanceHistory:
    """A row a decision, in arrays that grow.

    Parameters
    ----------
    types
        How many types there are.
    earlier
        (t, types) what was needed before the first decision.

    Raises
    ------
    InputError
        The earlier history has another shape, or a number in it is negative or not finite.

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
        """What is needed at a step, from 0."""
        row = self._first + step
        if row == len(self._needed):
            self._needed = np.concatenate((self._needed, np.zeros_like(self._needed)))
        self._needed[row] = needed
        self._until = row + 1

    def rows(self) -> _Floats:
        """All rows until now; who is shown them may not change them."""
        found = self._needed[: self._until]
        found.flags.writeable = False
        return found

    def note(self, now: float, needed: _Floats, totals: _Ints, there: _Ints, why: tuple[str, ...]) -> None:
        """An answer, at a decision or a look."""
        self._time.append(now)
        self._at.append(needed)
        self._totals.append(totals)
        self._there.append(there)
        self._why.append(why)

    def decisions(self) -> Decisions:
        """All of them."""
        types, count = self._needed.shape[1], len(self._time)
        return Decisions(
            np.array(self._time),
            np.array(self._at, np.float64).reshape(count, types),
            np.array(self._totals, np.int64).reshape(count, types),
            np.array(self._there, np.int64).reshape(count, types),
            tuple(self._why),
        )
