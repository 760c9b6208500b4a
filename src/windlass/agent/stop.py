"""Waits that a stop interrupts, and retry delays that grow with each failure."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np


class Stop:
    """A stop request that is sent once and seen by all threads.

    Examples
    --------
    >>> stop = Stop()
    >>> stop.wait(0.0), stop.told
    (False, False)
    >>> stop.tell()
    >>> stop.wait(60.0), stop.told
    (True, True)
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def told(self) -> bool:
        """True once a stop was requested."""
        return self._event.is_set()

    def tell(self) -> None:
        """Request a stop, which ends all current and later waits."""
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Wait for ``seconds`` or a stop request; return whether a stop was requested."""
        return self._event.wait(max(0.0, seconds))


@dataclass(slots=True)
class Backoff:
    """Retry delays: each is twice the last up to a bound, and drawn from its upper half.

    Parameters
    ----------
    rng
        Draws the delays, so that many agents do not retry at the same instant.
    first, most
        The first and the longest delay, s.
    Examples
    --------
    >>> backoff = Backoff(np.random.default_rng(1), first=1.0, most=4.0)
    >>> [0.5 * most <= backoff.next() <= most for most in (1.0, 2.0, 4.0, 4.0)]
    [True, True, True, True]
    >>> backoff.reset()
    >>> backoff.next() <= 1.0
    True
    """

    rng: np.random.Generator
    first: float = 1.0
    most: float = 300.0
    _failed: int = 0

    def next(self) -> float:
        """Return the delay after one more failure, s."""
        delay = min(self.most, self.first * 2.0 ** min(self._failed, 32))
        self._failed += 1
        return float(delay * self.rng.uniform(0.5, 1.0))

    def reset(self) -> None:
        """Reset the delay after a success."""
        self._failed = 0
