"""The system clock."""

from __future__ import annotations

import time


class SystemClock:
    """The system clock, which never stops a run.

    >>> SystemClock().sleep(0.0)
    True
    """

    def now(self) -> float:
        """Return the seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> bool:
        """Sleep for ``seconds``; return True, which means that the run continues."""
        time.sleep(seconds)
        return True
