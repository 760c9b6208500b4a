"""A time limit for a policy's code, which may loop forever."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

#: Default time limit of one check of a policy, s. The slowest check of a built-in policy takes a few seconds.
CHECK_LIMIT_S = 120.0
#: Interval at which the exception is raised again, in case a policy catches it, s.
_AGAIN_S = 1.0
#: Compiled code cannot be interrupted: the process ends when the limit is exceeded by this much, s.
_GRACE_S = 30.0


class TimeLimitError(BaseException):
    """Code ran longer than its limit. A policy that catches ``Exception`` does not catch it."""


@contextlib.contextmanager
def time_limit(seconds: float, what: str, grace_s: float = _GRACE_S) -> Iterator[None]:
    """Raise :class:`TimeLimitError` in the body of the context once it has run this long.

    Only the main thread receives signals; in other threads there is no limit. If compiled code does not return, the
    process ends with status 1 and a line on standard error.

    Parameters
    ----------
    seconds
        The limit, s.
    what
        Name of the code, for the message.
    grace_s
        Time from the limit until the process ends if the exception has no effect, s.

    Examples
    --------
    >>> with time_limit(60.0, "an example"):
    ...     print("done")
    done
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise TimeLimitError(f"{what} did not end within {seconds:g} s")

    def give_up() -> None:
        os.write(2, f"windlass: {what} did not end within {seconds:g} s, in compiled code\n".encode())
        os._exit(1)

    before = signal.signal(signal.SIGALRM, interrupt)
    last = threading.Timer(seconds + grace_s, give_up)
    last.daemon = True
    last.start()
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        last.cancel()
        signal.signal(signal.SIGALRM, before)
