"""Delays between retries of something that fails: doubled each time, up to a limit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

#: A delay is doubled at most this often, so that it stays a finite number without a limit.
_MOST_DOUBLINGS = 60


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that double with each failure in a row, up to a limit.

    It keeps no count and reads no clock: its user counts failures, and measures time.

    Parameters
    ----------
    first
        Delay after the first failure, s.
    most
        Limit of a delay, s; by default there is none.
    rng
        With a generator each delay is drawn from its upper half, so that clients that failed together do not
        retry together. Without one a delay is not random.

    Examples
    --------
    >>> backoff = Backoff(1.0, 5.0)
    >>> [backoff.delay(failures) for failures in (1, 2, 3, 4)]
    [1.0, 2.0, 4.0, 5.0]
    >>> 2.0 <= Backoff(1.0, 5.0, np.random.default_rng(1)).delay(3) <= 4.0
    True
    """

    first: float
    most: float = math.inf
    rng: np.random.Generator | None = None

    def delay(self, failures: int) -> float:
        """Return the delay before the next try, s.

        Parameters
        ----------
        failures
            How many tries in a row have failed, at least 1.
        """
        delay = min(self.first * 2.0 ** min(failures - 1, _MOST_DOUBLINGS), self.most)
        return delay if self.rng is None else float(delay * self.rng.uniform(0.5, 1.0))
