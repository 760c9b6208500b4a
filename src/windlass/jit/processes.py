"""Compilation of many kernels by forked processes, one for each processor; the cache takes the results to the caller.

Compilation is mostly Python code, so threads would take turns. A forked process has all functions at hand, also those
that no module has a name for, such as the ones of a policy's parameters. A process that fails or hangs costs nothing
but its time: the caller compiles whatever the cache still lacks.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import struct
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence

from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

#: The most processes: each takes some hundred megabytes, and the largest kernel alone takes a fifth of the time.
_AT_ONCE = 8
#: Fewer functions take less time to compile than is worth a fork.
_FEWEST = 40
#: A process that has reported nothing for this long is stopped, s. A single function takes a few seconds.
_PATIENCE_S = 120.0
_NUMBER = struct.Struct("<H")
#: The most functions: their numbers fit a ``_NUMBER``, and those of all kernels fit the buffer of a pipe.
_MOST = 32_000


def processors() -> int:
    """Return the number of processors that may compile: 1 where a process cannot be forked safely."""
    return min(len(os.sched_getaffinity(0)), _AT_ONCE) if sys.platform == "linux" else 1


def compile_by_processes(
    compilers: Sequence[Callable[[], None]],
    weights: Sequence[int],
    functions: Sequence[object],
    done: Callable[[object], None],
    count: int,
) -> None:
    """Run compilers in forked processes, the heaviest first, and return when all processes have ended.

    Nothing is returned: a compiler writes to the cache. It may fail, or not run at all.

    Parameters
    ----------
    compilers
        (k) functions that compile some kernels into the cache.
    weights
        (k) their sizes, such as the number of functions that each compiles.
    functions
        The dispatchers that have to be compiled, for the progress.
    done
        Called with each dispatcher after its first compilation in any process.
    count
        Number of processes.
    """
    if count < 2 or len(compilers) < 2 or not _FEWEST <= len(functions) <= _MOST:
        return
    order = sorted(range(len(compilers)), key=lambda number: -weights[number])
    tasks, reports = _queue(order), os.pipe()
    children = [_fork(compilers, functions, tasks, reports) for _ in range(min(count, len(compilers)))]
    os.close(tasks)
    os.close(reports[1])
    try:
        seen = set()
        for number in _reported(reports[0], children):
            if number not in seen:
                seen.add(number)
                done(functions[number])
    except BaseException:
        _stop(children)
        raise
    finally:
        os.close(reports[0])
        for child in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def _queue(numbers: Sequence[int]) -> int:
    """Return the reading end of a pipe with these numbers: each is read by one process."""
    reading, writing = os.pipe()
    os.write(writing, b"".join(map(_NUMBER.pack, numbers)))
    os.close(writing)
    return reading


def _fork(
    compilers: Sequence[Callable[[], None]], functions: Sequence[object], tasks: int, reports: tuple[int, int]
) -> int:
    """Start a process that runs the compilers of the queue; return its process id."""
    with global_compiler_lock, warnings.catch_warnings():
        # A new process has only the thread that forked it. No other thread holds the compiler's lock now.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return child
    try:
        # An interrupt of the terminal reaches the caller too, which then stops its processes.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.close(reports[0])
        with event.install_listener("numba:compile", _Reporter(functions, reports[1])):
            while taken := os.read(tasks, _NUMBER.size):
                # The caller compiles these kernels again, and raises what this process cannot show.
                with contextlib.suppress(Exception):
                    compilers[_NUMBER.unpack(taken)[0]]()
    finally:
        # Neither the caller's buffers are written nor its exit handlers called a second time.
        os._exit(0)


class _Reporter(event.Listener):  # type: ignore[misc]
    """Writes the number of each compiled function to a pipe."""

    def __init__(self, functions: Sequence[object], pipe: int) -> None:
        self._numbers = {id(function): number for number, function in enumerate(functions)}
        self._pipe = pipe

    def on_start(self, event: object) -> None:
        """Do nothing."""

    def on_end(self, event: object) -> None:
        """Report the function, if it is one of the expected ones; end the process if the caller was killed."""
        number = self._numbers.get(id(event.data["dispatcher"]))  # type: ignore[attr-defined]
        if number is not None:
            try:
                os.write(self._pipe, _NUMBER.pack(number))
            except BrokenPipeError:
                os._exit(1)


def _reported(pipe: int, children: Sequence[int]) -> Iterator[int]:
    """Yield the numbers that processes report until all have ended; stop processes that report nothing for long."""
    while True:
        ready, _, _ = select.select([pipe], [], [], _PATIENCE_S)
        if not ready:
            _stop(children)
        taken = os.read(pipe, _NUMBER.size)
        if not taken:
            return
        yield _NUMBER.unpack(taken)[0]


def _stop(children: Sequence[int]) -> None:
    """Kill processes; one that has ended stays a zombie until it is waited for, so its id is still its own."""
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
