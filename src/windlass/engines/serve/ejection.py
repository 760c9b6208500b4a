"""Which replicas get no requests for a while, because their requests failed."""

from __future__ import annotations

import enum
import math

#: Failures in a row after which a replica is ejected.
FAILURES = 5
#: How long a replica is ejected for the first time, and at most, s; each failed trial doubles the time.
_FIRST_S, _LONGEST_S = 1.0, 60.0


class RequestOutcome(enum.Enum):
    """How a request left a replica."""

    SERVED = enum.auto()
    FAILED = enum.auto()
    #: Cancelled by its client, or never accepted.
    DROPPED = enum.auto()


class Ejection:
    """The failures of one replica.

    After five failures in a row the replica gets no requests for a second. It then gets one request as a trial. If that
    fails too, the replica is ejected for twice as long, up to a minute. A request that is served ends the ejection.

    Source: outlier detection of Envoy, which ejects a host after five consecutive errors, and longer each time.

    Examples
    --------
    >>> ejection = Ejection()
    >>> for _ in range(5):
    ...     ejection.count(RequestOutcome.FAILED, now=10.0)
    >>> ejection.is_out(10.5), ejection.is_out(11.0), ejection.is_on_trial(11.0)
    (True, False, True)
    """

    def __init__(self) -> None:
        self._failures = 0
        self._until = -math.inf
        self._length = _FIRST_S

    def count(self, outcome: RequestOutcome, now: float) -> None:
        """Count the outcome of a request that ended at a time, s."""
        if outcome is RequestOutcome.SERVED:
            self._failures, self._length, self._until = 0, _FIRST_S, -math.inf
        elif outcome is RequestOutcome.FAILED and not self.is_out(now):
            self._failures += 1
            if self._failures >= FAILURES:
                self._until = now + self._length
                self._length = min(2.0 * self._length, _LONGEST_S)

    def is_out(self, now: float) -> bool:
        """Return whether the replica gets no requests now."""
        return now < self._until

    def is_on_trial(self, now: float) -> bool:
        """Return whether the replica was ejected and may have one request now."""
        return self._failures >= FAILURES and not self.is_out(now)
