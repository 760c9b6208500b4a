"""A stop request for the threads of an agent, which ends their waits at once."""

from __future__ import annotations

import threading


class Stop:
    """A stop request that is sent once and seen by all threads.

    Examples
    --------
    >>> stop = Stop()
    >>> stop.wait(0.0), stop.requested
    (False, False)
    >>> stop.notify()
    >>> stop.wait(60.0), stop.requested
    (True, True)
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def requested(self) -> bool:
        """True once a stop was requested."""
        return self._event.is_set()

    def notify(self) -> None:
        """Request a stop, which ends all current and later waits."""
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Wait for ``seconds`` or a stop request; return whether a stop was requested."""
        return self._event.wait(max(0.0, seconds))
