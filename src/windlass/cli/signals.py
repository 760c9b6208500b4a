"""Signals that end a command that has started jobs, nodes or processes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from windlass.agent.stop import Stop

#: Delay after which a lost Ctrl-C is sent again, s.
_AGAIN_S = 0.01


@contextlib.contextmanager
def stopped_by_signals(
    live: bool,
    message: str = "interrupted; what was started is stopped",
    *,
    terminated: Callable[[], int] = lambda: 130,
    report: Callable[[str], None] = lambda message: print(f"windlass: {message}", file=sys.stderr),
    on_hangup: Callable[[], None] | None = None,
) -> Iterator[None]:
    """Handle SIGTERM and SIGHUP like Ctrl-C, so that what a live run started is stopped.

    SIGHUP stays ignored if it was, as under ``nohup``.

    Parameters
    ----------
    live
        True if the command starts anything; otherwise signals are left alone.
    message
        Reported after the cleanup.
    terminated
        Returns the exit status after SIGTERM. After the other signals it is 130.
    report
        Called with the message.
    on_hangup
        Called at SIGHUP instead, from a thread of its own, in a process without a terminal; None to stop.
    """
    by: list[int] = []

    def stop(number: int, _: object) -> None:
        by.append(number)
        # Ray schedules an alarm that aborts the process three seconds after this signal, even during cleanup.
        signal.alarm(0)
        raise KeyboardInterrupt

    if not live or threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers: dict[int, Callable[[int, Any], None]] = {signal.SIGTERM: stop}
    if on_hangup is not None and not os.isatty(0):
        # A handler runs within any line of the program, which may hold a lock.
        handlers[signal.SIGHUP] = lambda *_: threading.Thread(target=on_hangup, daemon=True).start()
    elif signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        handlers[signal.SIGHUP] = stop
    before = [(each, signal.signal(each, handler)) for each, handler in handlers.items()]
    try:
        yield
    except KeyboardInterrupt:
        # Typer ends with this status too, but prints no message. A closed terminal cannot be written to.
        with contextlib.suppress(OSError):
            report(message)
        sys.exit(terminated() if by[-1:] == [signal.SIGTERM] else 130)
    finally:
        for each, handler in before:
            signal.signal(each, handler)


@dataclass(frozen=True, slots=True)
class SignalStop:
    """A stop that signals request, and the numbers of the signals that arrived."""

    stop: Stop
    numbers: list[int] = field(default_factory=list)


@contextlib.contextmanager
def stop_on_signals(
    on_hangup: Callable[[], None] | None = None, *, on_second: Callable[[], None] | None = None
) -> Iterator[SignalStop]:
    """Yield a stop that Ctrl-C, SIGTERM and SIGHUP set; a further signal ends the process.

    Parameters
    ----------
    on_hangup
        Called at SIGHUP instead, in a process without a terminal; None to stop.
    on_second
        Called at the second signal, which hurries the stop, so that the third one ends the process; None if the second
        one does.
    """
    from windlass.agent.stop import Stop

    found = SignalStop(Stop())

    def on_signal(number: int, _: object) -> None:
        hurries = bool(found.numbers)
        found.numbers.append(number)
        if hurries or on_second is None:
            for each in before:
                signal.signal(each, before[each])
        # From a thread, since this handler may interrupt the thread that waits for the stop and holds its lock.
        threading.Thread(target=hurry if hurries else found.stop.notify, daemon=True).start()

    def hurry() -> None:
        found.stop.hurry()
        if on_second is not None:
            on_second()

    handlers: dict[int, Callable[[int, Any], None]] = {signal.SIGINT: on_signal, signal.SIGTERM: on_signal}
    if on_hangup is not None and not os.isatty(0):
        # From a thread, for the same reason.
        handlers[signal.SIGHUP] = lambda *_: threading.Thread(target=on_hangup, daemon=True).start()
    elif signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        handlers[signal.SIGHUP] = on_signal
    before = {each: signal.signal(each, handler) for each, handler in handlers.items()}
    try:
        yield found
    finally:
        for each in before:
            signal.signal(each, before[each])


def never_lost() -> None:
    """Send Ctrl-C again if Python discards it, as in a destructor, from which no exception can propagate.

    Python would print a traceback there and continue. For programs that own their process.
    """
    before = sys.unraisablehook

    def again(lost: Any) -> None:
        if lost.exc_type is not KeyboardInterrupt:
            before(lost)
            return
        # Sent from a thread, since here it would be lost again. During shutdown no thread can be started.
        with contextlib.suppress(RuntimeError):
            try:
                sender = threading.Timer(_AGAIN_S, os.kill, (os.getpid(), signal.SIGINT))
                sender.daemon = True
                sender.start()
            except KeyboardInterrupt:
                # On a busy machine the timer may fire before start() returns, and this hook would lose the signal.
                again(lost)

    sys.unraisablehook = again
