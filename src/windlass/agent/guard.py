"""The guard, which rejects tasks while CPU Ready is high, whatever the policy predicts.

A policy predicts contention, and some keep to a budget: ``forewarn`` rejects for at most 5 % of the time. Lasting
contention is measured directly, so the agent does not accept tasks during it.
"""

from __future__ import annotations

import math
from collections import deque

from windlass.model.values import number

#: Number of steps over which CPU Ready is averaged, so that one bad step is not enough.
_STEPS = 3


class Guard:
    """Rejects from a mean CPU Ready of ``limit`` on, until it is below half of that.

    Parameters
    ----------
    limit
        Mean CPU Ready over the last three steps, as a share of all cores' time; 0 to disable the guard.

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
        """Mean CPU Ready over the last steps; 0 before the first."""
        return sum(self._last) / len(self._last) if self._last else 0.0

    def up(self, ready: float) -> bool:
        """Return whether to reject after a step; a step with a CPU Ready of NaN changes nothing."""
        if self.limit == 0.0:
            return False
        if not math.isnan(ready):
            self._last.append(ready)
            self._up = len(self._last) > 1 and self.mean >= (self.limit / 2.0 if self._up else self.limit)
        return self._up

    @property
    def room(self) -> float:
        """Distance of CPU Ready from the limit: 1 if no thread waits, 0 at the limit; 1 without a guard."""
        return 1.0 if self.limit == 0.0 else max(0.0, 1.0 - self.mean / self.limit)
