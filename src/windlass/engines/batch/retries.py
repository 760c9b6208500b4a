"""Retries of requests while a batch system does not answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from windlass.engines.backoff import Backoff
from windlass.engines.batch.log_entry import LogEntry
from windlass.engines.batch.status import Contact
from windlass.model import BatchError

_Found = TypeVar("_Found")
#: Delays between tries while the system does not answer.
_BACKOFF = Backoff(0.5, 15.0)


@dataclass(frozen=True, slots=True)
class Retries:
    """How long requests are repeated while a batch system does not answer.

    Parameters
    ----------
    system
        The system's name, for messages.
    seconds
        How long to retry, s.
    contact
        Updated with each request: whether the system answers.
    notify
        Called with a line when the system stops answering, and when it answers again.
    sleep
        Waits for this many seconds before a retry.
    clock
        Returns a monotonic time, s.
    is_away
        Returns whether an error means that the system does not answer.
    """

    system: str
    seconds: float
    contact: Contact
    notify: Callable[[str], None]
    sleep: Callable[[float], None]
    clock: Callable[[], float]
    is_away: Callable[[BatchError], bool]

    def retry(self, call: Callable[[], _Found], gone: Callable[[str], BatchError]) -> _Found:
        """Call a function; while the system is unreachable, retry with growing delays.

        Parameters
        ----------
        call
            The function.
        gone
            Returns the error, from its message, if the system stays unreachable.

        Raises
        ------
        BatchError
            That of ``gone``, or another error of the function.
        """
        began, failures = self.clock(), 0
        while True:
            tried = self.clock()
            try:
                found = call()
            except BatchError as error:
                self.contact.health.progressed()
                if not self.is_away(error):
                    self.contact.away = False
                    raise
                failures += 1
                self._failed(error, failures, began, gone)
            else:
                self.contact.health.progressed()
                self.contact.away = False
                if failures:
                    self.contact.lost += tried - began
                    self.notify(LogEntry.of(f"{self.system} answers again", "reachable"))
                return found

    def _failed(
        self, error: BatchError, failures: int, began: float, gone: Callable[[str], BatchError]
    ) -> None:
        self.contact.outages += not self.contact.away
        self.contact.away = True
        delay, lost = _BACKOFF.delay(failures), self.clock() - began
        if lost + delay > self.seconds:
            raise gone(f"{self.system} does not answer after {lost:.0f} s: {error}") from error
        if failures == 1:
            line = f"{self.system} does not answer, trying again for {self.seconds:g} s: {error}"
            self.notify(LogEntry.of(line, "unreachable"))
        self.sleep(delay)
