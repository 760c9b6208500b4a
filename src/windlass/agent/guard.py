"""Rejects while tasks wait for cores, whatever the policy foresees.

A policy foresees contention, and some keep to a budget: ``forewarn`` rejects for 5 % of the time at most. Contention
that lasts is seen by anybody, so the agent does not accept tasks into it.
"""

from __future__ import annotations

import math
from collections import deque

from windlass.model.values import number

#: CPU Ready is taken over so many steps, so that one bad step is not enough.
_STEPS = 3


class Guard:
    """Up from a mean CPU Ready of ``limit`` on, until it is below half of that.

    Parameters
    ----------
    limit
        CPU Ready over the last three steps, in all cores' time; 0 for no guard at all.

    Raises
    ------
    InputError
        It is below 0 or not finite.

    Examples
    --------
    >>> guard = Guard(0.5)
    >>> [guard.up(each) for each in (0.0, 0.9, 0.9, 0.4, 0.3, 0.0)]
    [False, False, True, True, True, False]
    """

    def __init__(self, limit: float) -> None:
        self.limit = number("guard", limit, 0.0)
        self._last: deque[float] = deque(maxlen=_STEPS)
        self._up = False

    @property
    def mean(self) -> float:
        """CPU Ready over the last steps; 0 before the first."""
        return sum(self._last) / len(self._last) if self._last else 0.0

    def up(self, ready: float) -> bool:
        """Whether to reject after a step; one whose CPU Ready is NaN changes nothing."""
        if self.limit == 0.0:
            return False
        if not math.isnan(ready):
            self._last.append(ready)
            self._up = len(self._last) > 1 and self.mean >= (self.limit / 2.0 if self._up else self.limit)
        return self._up

    @property
    def room(self) -> float:
        """How far CPU Ready is from the limit, 1 where nobody waits to 0; 1 without a guard."""
        return 1.0 if self.limit == 0.0 else max(0.0, 1.0 - self.mean / self.limit)
