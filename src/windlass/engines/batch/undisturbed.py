"""A part of a driver's end that no signal interrupts."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore further signals, which would leave the queue half given back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [
        (number, signal.signal(number, signal.SIG_IGN))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    ]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
