"""When something that fails is tried again: after delays that double each time, up to a limit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

#: Maximum number of doublings, so that a delay stays finite without a limit.
_MOST_DOUBLINGS = 60


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that double with each failure in a row, up to a limit.

    It keeps no state and reads no clock: the caller counts failures and waits.

    Parameters
    ----------
    first
        Delay after the first failure, s.
    most
        Upper limit of a delay, s; none by default.
    rng
        Draws each delay from its upper half, so that clients that failed together do not retry together. Without a
        generator, delays are not random.

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
            Number of failures in a row, at least 1.
        """
        delay = min(self.first * 2.0 ** min(failures - 1, _MOST_DOUBLINGS), self.most)
        return delay if self.rng is None else float(delay * self.rng.uniform(0.5, 1.0))


@dataclass(frozen=True, slots=True)
class RetryState:
    """Failures in a row of one operation, and when its next attempt is due.

    Parameters
    ----------
    failures
        Failures in a row; 0 after a success.
    due
        When it may be tried again, s; minus infinity if at once.

    Examples
    --------
    >>> once = RetryState().failed(100.0, Backoff(5.0, 300.0))
    >>> once, once.failed(105.0, Backoff(5.0, 300.0))
    (RetryState(failures=1, due=105.0), RetryState(failures=2, due=115.0))
    """

    failures: int = 0
    due: float = -math.inf

    def failed(self, now: float, backoff: Backoff, at_once: int = 0) -> RetryState:
        """Return the record after one more failure.

        Parameters
        ----------
        now
            When it failed, s.
        backoff
            Delays before the next attempts.
        at_once
            Failures in a row after which the operation may be tried again without a delay.
        """
        failures = self.failures + 1
        delayed = failures - at_once
        return RetryState(failures, now + backoff.delay(delayed) if delayed > 0 else -math.inf)


#: The record of an operation that has not failed since its last success.
NO_FAILURES = RetryState()
