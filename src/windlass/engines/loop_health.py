"""Whether the loop of a driver makes progress, for probes of its process."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

#: Time without progress after which a loop counts as hung, in multiples of its interval …
_INTERVALS = 3.0
#: … and at least, s: a request may take a minute, and the first decision compiles.
_LEAST_S = 180.0


@dataclass(slots=True)
class LoopHealth:
    """The last progress of a loop: its own thread reports it, and any thread may read it without a lock.

    A poll, the answer to a request, and its failure are progress, so a loop that retries is alive. A planned pause does
    not count as time without progress.

    Parameters
    ----------
    interval
        Time between two polls, s.
    clock
        Returns a monotonic time, s.

    Examples
    --------
    >>> time = 0.0
    >>> health = LoopHealth(interval=100.0, clock=lambda: time)
    >>> time = 400.0
    >>> health.problem()
    'no progress for 400 s, expected at most 300 s'
    >>> health.progressed(pause=60.0)
    >>> time = 760.0
    >>> health.problem()
    ''
    """

    interval: float = 0.0
    clock: Callable[[], float] = time.monotonic
    _due: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.progressed()

    def progressed(self, pause: float = 0.0) -> None:
        """Report progress, after which the loop pauses for ``pause`` seconds."""
        self._due = self.clock() + pause

    def sleeping(self, sleep: Callable[[float], None]) -> Callable[[float], None]:
        """Return a function that reports progress, and waits by ``sleep``: a planned pause."""

        def pause(seconds: float) -> None:
            self.progressed(seconds)
            sleep(seconds)

        return pause

    def problem(self) -> str:
        """Return why the loop counts as hung; empty if it makes progress."""
        since, limit = self.clock() - self._due, max(_INTERVALS * self.interval, _LEAST_S)
        return "" if since <= limit else f"no progress for {since:.0f} s, expected at most {limit:g} s"
