"""A reserve of instances in fixed steps, for use without a history."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError

_Ints = NDArray[np.int64]


class Ladder:
    """A reserve that grows in steps with the number of instances.

    Parameters
    ----------
    steps
        Pairs (from this many instances, reserve), whole numbers; the first column rises from 0.

    Raises
    ------
    InputError
        The steps are not such pairs.

    Examples
    --------
    >>> Ladder([(0, 1), (10, 3)]).reserve(np.array([0, 9, 10])).tolist()
    [1, 1, 3]
    """

    __slots__ = ("_begins", "_reserves")

    def __init__(self, steps: Sequence[Sequence[int]]) -> None:
        for step in steps:
            if len(step) != 2 or any(isinstance(x, bool) or int(x) != x or x < 0 for x in step):
                raise InputError(f"ladder: step is {list(step)}, expected two whole numbers: from, reserve")
        begins = [int(step[0]) for step in steps]
        if not begins or begins[0] != 0 or begins != sorted(set(begins)):
            raise InputError(f"ladder: steps begin at {begins}, expected rising numbers from 0")
        self._begins = np.array(begins, dtype=np.int64)
        self._reserves = np.array([int(step[1]) for step in steps], dtype=np.int64)

    def reserve(self, counts: _Ints) -> _Ints:
        """Return (k,) the reserve at these counts."""
        return self._reserves[np.searchsorted(self._begins, counts, side="right") - 1]
