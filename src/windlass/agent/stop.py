"""A stop request for threads, which ends their waits at once, and a second one, which ends patience, too."""

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
        self._event, self._hurry, self._lock = threading.Event(), threading.Event(), threading.Lock()
        self._parts: list[Stop] = []
        self._whole: Stop | None = None
        self._hands_over = self._takes_over = False

    @property
    def requested(self) -> bool:
        """True once a stop was requested."""
        return self._event.is_set()

    @property
    def hurried(self) -> bool:
        """True once a second stop was requested: what does not answer is waited for no longer."""
        return self._hurry.is_set()

    @property
    def hands_over(self) -> bool:
        """True if another takes over at once what the stopped one holds, and nothing ends that one, too."""
        return self._hands_over and not (self._whole is not None and self._whole.requested)

    @property
    def takes_over(self) -> bool:
        """True if another has handed over what it held to the one that this stops."""
        return self._takes_over

    def part(self, *, takes_over: bool = False) -> Stop:
        """Return a stop of one of several threads: this one stops it, too.

        Parameters
        ----------
        takes_over
            Whether another thread has handed over to that one what it held.

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
        part._whole, part._takes_over = self, takes_over
        with self._lock:
            self._parts.append(part)
            if self.requested:
                part.notify()
            if self.hurried:
                part.hurry()
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

    def hurry(self) -> None:
        """Request a stop that waits for nothing that does not answer.

        Examples
        --------
        >>> stop = Stop()
        >>> part = stop.part()
        >>> stop.hurry()
        >>> part.requested, part.hurried, part.wait_patiently(60.0)
        (True, True, True)
        """
        self.notify()
        with self._lock:
            self._hurry.set()
            parts = tuple(self._parts)
        for part in parts:
            part.hurry()

    def wait_patiently(self, seconds: float) -> bool:
        """Wait for ``seconds`` or a second stop request; return whether that was requested."""
        return self._hurry.wait(max(0.0, seconds))

    def wait(self, seconds: float) -> bool:
        """Wait for ``seconds`` or a stop request; return whether a stop was requested."""
        return self._event.wait(max(0.0, seconds))
