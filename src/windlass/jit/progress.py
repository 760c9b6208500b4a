"""Progress of compiling: reported to a callback, or in one line on standard error if it takes long."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from numba.core import event

ANNOUNCE_AFTER_S = 1.0


@dataclass(frozen=True, slots=True)
class Compiling:
    """How far compiling is.

    Parameters
    ----------
    function
        What is being compiled, or was last; empty at the beginning and at the end.
    done, total
        Functions compiled, of those that have to be.
    """

    function: str
    done: int
    total: int


class _Counter(event.Listener):  # type: ignore[misc]
    """Counts the functions that Numba ends compiling, of those that were foreseen."""

    def __init__(self, foreseen: Iterable[Any], report: Callable[[Compiling], None]) -> None:
        self._left = {id(dispatcher) for dispatcher in foreseen}
        self._total = len(self._left)
        self._report = report

    def on_start(self, event: Any) -> None:
        """Report the start of a function; the functions that it calls are compiled in between."""
        self.say(event.data["dispatcher"].__qualname__)

    def on_end(self, event: Any) -> None:
        """Report the end of a function."""
        self._left.discard(id(event.data["dispatcher"]))
        self.say(event.data["dispatcher"].__qualname__)

    def say(self, function: str) -> None:
        """Report the progress."""
        self._report(Compiling(function, self._total - len(self._left), self._total))


@contextmanager
def counted(dispatchers: Iterable[Any], report: Callable[[Compiling], None]) -> Iterator[None]:
    """Report each of these functions as it is compiled.

    Parameters
    ----------
    dispatchers
        What has to be compiled.
    report
        Called at the beginning, at each function, and at the end.
    """
    counter = _Counter(dispatchers, report)
    counter.say("")
    with event.install_listener("numba:compile", counter):
        yield
    report(Compiling("", counter._total, counter._total))


@contextmanager
def announced(functions: int) -> Iterator[None]:
    """Report on standard error that functions are being compiled, once it takes longer than a second."""
    done = threading.Event()

    def speak() -> None:
        if not done.wait(ANNOUNCE_AFTER_S):
            what = "1 function" if functions == 1 else f"{functions} functions"
            line = f"Compiling {what} for this machine (first use only, then cached) …"
            print(line, file=sys.stderr, flush=True)

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield
    finally:
        done.set()
        speaker.join()
