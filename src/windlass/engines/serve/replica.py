"""One replica as it looks from outside: what is under way there, and for how long it has been busy."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable
from typing import NamedTuple

#: Completions that make a replica known. One could be luck.
TRIALS = 2


class Done(NamedTuple):
    """What a replica did.

    Parameters
    ----------
    work
        Requests served.
    seconds
        Busy ones that it took.
    """

    work: float
    seconds: float


class _Sent(NamedTuple):
    """A request under way: since when, s; and how many were there with it, where some of them were others'."""

    at: float
    length: int | None


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
    Done(work=1.0, seconds=3.0)
    >>> replica.end("b", now=4.0, at_once=1)
    Done(work=1.0, seconds=1.0)

    Of the next, the replica says that it is the fifth there: five were served when it ended, four of them others'.

    >>> replica.begin("c", now=4.0, at_once=1, length=5)
    >>> replica.end("c", now=9.0, at_once=1)
    Done(work=5.0, seconds=5.0)
    """

    def __init__(self, now: float, window: int) -> None:
        self.worker = 0  # its number, to the policy
        self.outstanding: dict[Hashable, _Sent] = {}
        self.busy = 0.0  # busy seconds since the last completion
        self.told = 0.0  # how many of them the policy has been told
        self._last_end = -math.inf
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

    def begin(self, request: Hashable, now: float, at_once: int, length: int | None = None) -> None:
        """A request is under way; so many are there with it, if that is known."""
        self.count(now, at_once)
        own = len(self.outstanding) + 1
        self.outstanding[request] = _Sent(now, length if length is not None and length > own else None)

    def end(self, request: Hashable, now: float, at_once: int) -> Done:
        """It no longer is; what was done since the last end, as far as its seconds have not been told."""
        self.count(now, at_once)
        sent = self.outstanding.pop(request, None)
        done = Done(1.0, self.busy - self.told)
        if sent is not None and sent.length is not None and now > sent.at:
            # All that were there with it were served meanwhile. Of those seconds some may have been counted before.
            passed = min(now - self._last_end, now - sent.at)
            seconds = passed * min(sent.length, at_once) - self.told
            done = Done(sent.length * passed / (now - sent.at), max(seconds, 0.0))
        self.busy = self.told = 0.0
        self.heard = self._last_end = now
        self.ended += 1
        return done
