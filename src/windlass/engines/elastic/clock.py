"""This machine's clock."""

from __future__ import annotations

import time


class SystemClock:
    """Goes on for ever; a signal ends it.

    >>> SystemClock().sleep(0.0)
    True
    """

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> bool:
        """Wait; always to go on."""
        time.sleep(seconds)
        return True
