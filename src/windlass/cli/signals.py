"""What ends a command that has started something."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

#: After so long Ctrl-C is sent again that was lost, s.
_AGAIN_S = 0.01


@contextlib.contextmanager
def stopped_by_signals(live: bool, says: str = "interrupted; what was started is stopped") -> Iterator[None]:
    """Have a request to terminate end a live run as Ctrl-C does, so that what it started is stopped; or a terminal that
    is closed, unless that is to be ignored (``nohup``).

    Parameters
    ----------
    live
        Whether anything is started; nothing is done otherwise.
    says
        Told at the end, when all that is to be done on the way out is done.
    """

    def stop(*_: object) -> None:
        # Ray has the process aborted three seconds after this signal, whatever it is cleaning up then.
        signal.alarm(0)
        raise KeyboardInterrupt

    if not live or threading.current_thread() is not threading.main_thread():
        yield
        return
    ends = [signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        ends.append(signal.SIGHUP)
    before = [(each, signal.signal(each, stop)) for each in ends]
    try:
        yield
    except KeyboardInterrupt:
        # Typer would end with this status too, but say nothing of it. A closed terminal hears nothing any more.
        with contextlib.suppress(OSError):
            print(f"windlass: {says}", file=sys.stderr)
        sys.exit(130)
    finally:
        for each, handler in before:
            signal.signal(each, handler)


def never_lost() -> None:
    """Have Ctrl-C come again where it was raised at a place from which no error gets out, as while a lock is freed.

    Python would print a traceback there, and go on as if nothing had been. It is for a program that has its process for
    itself.
    """
    before = sys.unraisablehook

    def again(lost: Any) -> None:
        if lost.exc_type is not KeyboardInterrupt:
            before(lost)
            return
        # From a thread: sent from here, it would be lost here as well. There are none any more where all ends.
        with contextlib.suppress(RuntimeError):
            sender = threading.Timer(_AGAIN_S, os.kill, (os.getpid(), signal.SIGINT))
            sender.daemon = True
            sender.start()

    sys.unraisablehook = again
