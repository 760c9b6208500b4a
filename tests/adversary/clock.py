"""Virtual time: calls that are due at an instant, and waits that take no time."""

import heapq
import itertools

#: Unix time at which each run begins, s.
BEGIN = 1_000_000.0
#: The least wait, s: a driver that waits for no time at all would otherwise never end.
_LEAST_S = 1e-3


class VirtualClock:
    """A clock that moves only when something waits."""

    def __init__(self, now=BEGIN):
        self.now, self._calls, self._numbers = now, [], itertools.count()

    def time(self):
        return self.now

    def at(self, when, call):
        """Call a function once `when` is reached."""
        heapq.heappush(self._calls, (when, next(self._numbers), call))

    def wait(self, seconds):
        """Move on, and make the calls that are due on the way."""
        until = self.now + max(seconds, _LEAST_S)
        while self._calls and self._calls[0][0] <= until:
            when, _, call = heapq.heappop(self._calls)
            self.now = max(self.now, when)
            call()
        self.now = until
