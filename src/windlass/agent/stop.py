"""Waits that a stop ends at once, and delays that grow while something fails."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np


class Stop:
    """Told once, seen by all threads.

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
        """Whether it was."""
        return self._event.is_set()

    def tell(self) -> None:
        """End all waits, now and later."""
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until told; whether it was."""
        return self._event.wait(max(0.0, seconds))


@dataclass(slots=True)
class Backoff:
    """Delays between tries that fail: each is twice the last, up to a bound, and drawn from its upper half.

    Parameters
    ----------
    rng
        Draws, so that many agents do not come back at the same instant.
    first, most
        Seconds.

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
        """Seconds to wait after one more failure."""
        delay = min(self.most, self.first * 2.0 ** min(self._failed, 32))
        self._failed += 1
        return float(delay * self.rng.uniform(0.5, 1.0))

    def reset(self) -> None:
        """It worked."""
        self._failed = 0
