"""Errors about objects that cannot be read: each is reported once while it lasts."""

from __future__ import annotations

from collections.abc import Callable


class UnreadableObjects:
    """Reports each error once, until a poll in which it does not occur. So it keeps the errors of two polls at most.

    Parameters
    ----------
    notify
        Called with each line.

    Examples
    --------
    >>> found = UnreadableObjects(print)
    >>> for poll in range(3):
    ...     found.report("job 7 requests half a CPU", "left alone")
    ...     found.end_poll()
    job 7 requests half a CPU; left alone
    """

    def __init__(self, notify: Callable[[str], None]) -> None:
        self._notify = notify
        self._before: set[str] = set()
        self._now: set[str] = set()

    def report(self, error: object, consequence: str) -> None:
        """Report an error, and what the driver does about it, unless it was reported."""
        message = str(error)
        if message not in self._before and message not in self._now:
            self._notify(f"{message}; {consequence}")
        self._now.add(message)

    def end_poll(self) -> None:
        """Forget the errors that did not occur since the last call."""
        self._before, self._now = self._now, set()
