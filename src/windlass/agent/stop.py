"""A stop request for threads, which ends their waits at once."""

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
        self._event, self._lock = threading.Event(), threading.Lock()
        self._parts: list[Stop] = []
        self._whole: Stop | None = None
        self._hands_over = False

    @property
    def requested(self) -> bool:
        """True once a stop was requested."""
        return self._event.is_set()

    @property
    def hands_over(self) -> bool:
        """True if another takes over at once what the stopped one holds, and nothing ends that one, too."""
        return self._hands_over and not (self._whole is not None and self._whole.requested)

    def part(self) -> Stop:
        """Return a stop of one of several threads: this one stops it, too.

        Examples
        --------
        >>> stop = Stop()
        >>> one, other = stop.part(), stop.part()
        >>> one.notify()
        >>> one.requested, other.requested, stop.requested
        (True, False, False)
        >>> stop.notify()
        >>> other.requested
        True
        """
        part = Stop()
        part._whole = self
        with self._lock:
            self._parts.append(part)
            if self.requested:
                part.notify()
        return part

    def notify(self, *, hands_over: bool = False) -> None:
        """Request a stop, which ends all current and later waits.

        Parameters
        ----------
        hands_over
            Whether another takes over at once what the stopped one holds.
        """
        with self._lock:
            if not self.requested:
                self._hands_over = hands_over
            self._event.set()
            parts = tuple(self._parts)
        for part in parts:
            part.notify()

    def wait(self, seconds: float) -> bool:
        """Wait for ``seconds`` or a stop request; return whether a stop was requested."""
        return self._event.wait(max(0.0, seconds))
