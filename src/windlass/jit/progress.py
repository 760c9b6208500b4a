"""Progress of a compilation: reported to a callback, or in one line on standard error if it takes long."""

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
    """The progress of a compilation.

    Parameters
    ----------
    function
        Name of the function whose compilation started or ended last; empty at the beginning and at the end.
    done, total
        Number of functions compiled so far, and of all that have to be compiled.
    """

    function: str
    done: int
    total: int


class Counter(event.Listener):  # type: ignore[misc]
    """Counts the expected functions that Numba has compiled.

    Parameters
    ----------
    expected
        The dispatchers of functions that have to be compiled.
    report
        Called at the start and end of each function.
    """

    def __init__(self, expected: Iterable[Any], report: Callable[[Compiling], None]) -> None:
        self._left = {id(dispatcher) for dispatcher in expected}
        self._total = len(self._left)
        self._report = report

    def on_start(self, event: Any) -> None:
        """Report that a function's compilation starts; the functions that it calls are compiled before it ends."""
        self._send(event.data["dispatcher"].__qualname__)

    def on_end(self, event: Any) -> None:
        """Report that a function's compilation ended."""
        self.count(event.data["dispatcher"])

    def count(self, dispatcher: Any) -> None:
        """Count a function that was compiled, here or by another process."""
        self._left.discard(id(dispatcher))
        self._send(dispatcher.__qualname__)

    def _send(self, function: str) -> None:
        """Report the progress."""
        self._report(Compiling(function, self._total - len(self._left), self._total))


@contextmanager
def counting(dispatchers: Iterable[Any], report: Callable[[Compiling], None]) -> Iterator[Counter]:
    """Report the progress of compiling these functions inside the context.

    Parameters
    ----------
    dispatchers
        Functions that have to be compiled.
    report
        Called at the beginning, for each function, and at the end.

    Yields
    ------
    Counter
        Counts compiled functions; it listens to Numba only once it is installed.
    """
    counter = Counter(dispatchers, report)
    counter._send("")
    yield counter
    report(Compiling("", counter._total, counter._total))


@contextmanager
def announce(functions: int) -> Iterator[None]:
    """Print a line on standard error if compiling inside the context takes longer than a second."""
    done = threading.Event()

    def print_if_slow() -> None:
        if not done.wait(ANNOUNCE_AFTER_S):
            what = "1 function" if functions == 1 else f"{functions} functions"
            line = f"Compiling {what} for this machine (first use only, then cached) …"
            print(line, file=sys.stderr, flush=True)

    printer = threading.Thread(target=print_if_slow, daemon=True)
    printer.start()
    try:
        yield
    finally:
        done.set()
        printer.join()
