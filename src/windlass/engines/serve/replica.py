"""One replica as it looks from outside: what is under way there, and for how long it has been busy."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

#: Completions that make a replica known. One could be luck.
TRIALS = 2


class Replica:
    """What is remembered of one replica.

    Parameters
    ----------
    now
        When it came, s.
    window
        Of how many completions the times are kept.

    Examples
    --------
    >>> replica = Replica(now=0.0, window=16)
    >>> replica.begin("a", now=0.0, at_once=1)
    >>> replica.begin("b", now=0.0, at_once=1)
    >>> replica.end("a", now=3.0, at_once=1)
    3.0
    >>> replica.end("b", now=4.0, at_once=1)
    1.0
    """

    def __init__(self, now: float, window: int) -> None:
        self.worker = 0  # its number, to the policy
        self.outstanding: set[Hashable] = set()
        self.busy = 0.0  # busy seconds since the last completion
        self.told = 0.0  # how many of them the policy has been told
        self.heard = now  # when it came, was last tried or last completed something
        self.ended = 0  # requests
        self.last: deque[tuple[float, float]] = deque(maxlen=window)  # requests done, busy seconds
        self._counted = now  # until when busy seconds are counted

    @property
    def known(self) -> bool:
        """Whether enough has been learned to go by; its first completion is not learned from."""
        return self.ended > TRIALS

    def count(self, now: float, at_once: int) -> None:
        """Count busy seconds up to now."""
        self.busy += max(0.0, now - self._counted) * min(len(self.outstanding), at_once)
        self._counted = now

    def begin(self, request: Hashable, now: float, at_once: int) -> None:
        """A request is under way."""
        self.count(now, at_once)
        self.outstanding.add(request)

    def end(self, request: Hashable, now: float, at_once: int) -> float:
        """It no longer is; the busy seconds that it ends and that have not been told."""
        self.count(now, at_once)
        self.outstanding.discard(request)
        seconds = self.busy - self.told
        self.busy = self.told = 0.0
        self.heard = now
        self.ended += 1
        return seconds
