"""One replica as observed from outside: its outstanding requests, and its busy time."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable
from typing import NamedTuple

from windlass.engines.serve.ejection import Ejection

#: Completions after which a replica counts as known; a single one could be chance.
TRIALS = 2


class Done(NamedTuple):
    """Work done by a replica.

    Parameters
    ----------
    work
        Requests served.
    seconds
        The busy time that they took, s.
    """

    work: float
    seconds: float


class _Sent(NamedTuple):
    """An outstanding request: when it was sent, s; and the replica's queue length, if it includes other routers'."""

    at: float
    length: int | None


class Replica:
    """Observations of one replica.

    Parameters
    ----------
    now
        When it was added, s.
    window
        Number of completions with recorded times.

    Examples
    --------
    >>> replica = Replica(now=0.0, window=16)
    >>> replica.begin("a", now=0.0, at_once=1)
    >>> replica.begin("b", now=0.0, at_once=1)
    >>> replica.end("a", now=3.0, at_once=1)
    Done(work=1.0, seconds=3.0)
    >>> replica.end("b", now=4.0, at_once=1)
    Done(work=1.0, seconds=1.0)

    The replica reports that the next one is its fifth request: five were served by its end, four of them others'.

    >>> replica.begin("c", now=4.0, at_once=1, length=5)
    >>> replica.end("c", now=9.0, at_once=1)
    Done(work=5.0, seconds=5.0)
    """

    def __init__(self, now: float, window: int) -> None:
        self.worker = 0  # its number in the policy
        self.outstanding: dict[Hashable, _Sent] = {}
        self.ejection = Ejection()
        self.busy = 0.0  # busy seconds since the last completion
        self.reported = 0.0  # the part of them already reported to the policy
        self._last_end = -math.inf
        self.last_active = now  # when it was added, last tried or last completed a request
        self.ended = 0  # requests
        self.dropped = 0  # requests that were cancelled
        self.last: deque[tuple[float, float]] = deque(maxlen=window)  # requests served, busy seconds
        self._counted = now  # when busy seconds were last updated

    @property
    def known(self) -> bool:
        """True if enough completions were learned from; the first one is not.

        A replica that has answered none of several requests that were cancelled is known, too, as a slow one. Otherwise
        it would stay new, and get a request whenever it is idle.
        """
        return self.ended > TRIALS or (self.ended == 0 and self.dropped > TRIALS)

    def count(self, now: float, at_once: int) -> None:
        """Update the busy seconds."""
        self.busy += max(0.0, now - self._counted) * min(len(self.outstanding), at_once)
        self._counted = now

    def begin(self, request: Hashable, now: float, at_once: int, length: int | None = None) -> None:
        """Record an accepted request, and the replica's queue length with it, if known."""
        self.count(now, at_once)
        own = len(self.outstanding) + 1
        self.outstanding[request] = _Sent(now, length if length is not None and length > own else None)

    def may_have_one(self, now: float) -> bool:
        """Return whether the replica may have a request: it is not ejected, and its trial is not under way."""
        on_trial = self.ejection.is_on_trial(now)
        return not self.ejection.is_out(now) and not (on_trial and self.outstanding)

    def drop(self, request: Hashable, now: float, at_once: int) -> Done:
        """Record that a request was cancelled; return the busy seconds without work that are not reported yet.

        The replica stays silent: only a completion shows that it does not hang.

        >>> replica = Replica(now=0.0, window=16)
        >>> replica.begin("a", now=0.0, at_once=1)
        >>> replica.drop("a", now=0.5, at_once=1), replica.busy
        (Done(work=0.0, seconds=0.5), 0.5)
        """
        self.count(now, at_once)
        self.outstanding.pop(request, None)
        done = Done(0.0, self.busy - self.reported)
        self.reported = self.busy
        self.dropped += 1
        return done

    def end(self, request: Hashable, now: float, at_once: int) -> Done:
        """Record a request's end; return the work since the last end, without busy seconds already reported."""
        self.count(now, at_once)
        sent = self.outstanding.pop(request, None)
        done = Done(1.0, self.busy - self.reported)
        if sent is not None and sent.length is not None and now > sent.at:
            # All requests that were there with it were served meanwhile. Some of the time may be counted already.
            passed = min(now - self._last_end, now - sent.at)
            seconds = passed * min(sent.length, at_once) - self.reported
            done = Done(sent.length * passed / (now - sent.at), max(seconds, 0.0))
        self.busy = self.reported = 0.0
        self.last_active = self._last_end = now
        self.ended += 1
        return done
