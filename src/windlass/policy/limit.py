"""A time limit on code of a policy, which may loop for ever."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

#: Default time limit of one check of a policy, s. The slowest check of a built-in policy takes a few seconds.
CHECK_LIMIT_S = 120.0
#: A policy may catch the exception once; it is raised again at this interval, s.
_AGAIN_S = 1.0
#: Compiled code cannot be interrupted. The process ends if the limit is exceeded by this long, s.
_GRACE_S = 30.0


class TimeLimitError(BaseException):
    """Code ran longer than its limit. A policy that catches ``Exception`` does not catch it."""


@contextlib.contextmanager
def time_limit(seconds: float, what: str, grace_s: float = _GRACE_S) -> Iterator[None]:
    """Raise :class:`TimeLimitError` in the code inside once it has run this long.

    Signals reach the main thread alone; in another thread there is no limit. Code that is stuck in compiled code ends
    the process with status 1 and a line on standard error.

    Parameters
    ----------
    seconds
        The limit, s.
    what
        What runs, for the message.
    grace_s
        How long after the limit the process ends if the exception had no effect, s.

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
