"""Polls of a batch system: when the next one is due, the events that they brought, and their counts."""

from __future__ import annotations

import math
from collections.abc import Callable

from windlass.engines.batch.status import DriverStatus
from windlass.engines.batch.system import Capacity, Event, NoMore

#: Factor on the polling interval while there are no jobs of Windlass.
_IDLE_PACE = 4.0
#: The least pause after a poll, in multiples of the time that the poll took, so that polls take at most a fifth of the
#: time, however much the system lists.
REST = 4.0
#: The longest such pause, s: if the clock was set forward during a poll, the poll did not take that long.
_LONGEST_REST_S = 240.0


class Polls:
    """Polls a batch system at an interval, and keeps the events of polls until the engine requests them.

    Parameters
    ----------
    poll
        Polls the system: appends to ``events``, and ends with :meth:`ended`.
    pace
        The polling interval while there are jobs of Windlass, s.
    until_idle
        True to report that no more jobs come as soon as none is left.
    clock
        Returns the Unix time, s.
    sleep
        Waits for this many seconds.
    status
        Updated with each poll.
    """

    def __init__(
        self,
        poll: Callable[[], None],
        pace: float,
        until_idle: bool,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        status: DriverStatus,
    ) -> None:
        self._poll, self._pace, self._until_idle = poll, pace, until_idle
        health = status.contact.health
        health.interval = pace
        self._clock, self._sleep, self._status = clock, health.sleeping(sleep), status
        #: Events that the engine has not requested.
        self.events: list[Event] = []
        #: Unix time at which events were last returned, s.
        self.now = clock()
        self._next, self._began, self._lost, self._no_more = -math.inf, self.now, 0.0, False
        self._polled = -math.inf

    def wait(self, timeout: float) -> list[Event]:
        """Return the events since the last call; the system is polled at most at the interval."""
        latest = self._clock()
        until = latest + timeout
        while True:
            now = self._clock()
            if now < max(latest, self._polled):
                # The clock was set back, so that neither instant is near.
                until, self._next = now + timeout, -math.inf
            latest = now
            if now >= self._next:
                self._poll()
            if self.events or self._clock() >= until:
                self.now = self._clock()
                found, self.events = self.events, []
                return found
            self._sleep(max(0.0, min(until, self._next) - self._clock()))

    def began(self) -> float:
        """Take note that a poll begins; return the Unix time, s."""
        self._began, self._lost = self._clock(), self._status.contact.lost
        return self._began

    def capacity(self, processors: int) -> None:
        """Report the processors that are up, if their number changed."""
        known = self._status.processors
        if processors != known:
            self._status.capacity_falls += processors < known
            self._status.processors = processors
            self.events.append(Capacity(processors))

    def ended(self, waiting: int, running: int, stuck: int) -> None:
        """Take note that a poll has ended, and of the jobs of Windlass that wait, run and cannot start."""
        busy = waiting > 0 or running > 0
        if self._until_idle and not busy and not self._no_more:
            self._no_more = True
            self.events.append(NoMore())
        now, status = self._clock(), self._status
        # A retry while the system does not answer is no work of a poll.
        took = max(0.0, now - self._began - (status.contact.lost - self._lost))
        self._next = now + max(self._pace * (1.0 if busy else _IDLE_PACE), min(REST * took, _LONGEST_REST_S))
        self._polled = now
        status.waiting, status.running, status.stuck = waiting, running, stuck
        status.polls, status.polled = status.polls + 1, now
        status.last_poll_seconds, status.poll_seconds = took, status.poll_seconds + took
