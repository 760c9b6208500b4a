"""Common code of the four workflows: options, stages with progress, processes, a checksum, and an orderly end.

Options fix the work of a workflow, in units and not by a clock, so a workflow that is slowed takes longer. The code
needs only the standard library and NumPy.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import active_children, get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

#: Environment variable that names the progress file; without it, none is written.
VARIABLE = "WINDLASS_PROGRESS"
#: Signals that end a workflow.
SIGNALS = (signal.SIGTERM, signal.SIGINT)
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True)
class Options:
    """Options of a workflow: nominal seconds on one reference core, cores, bytes, seed, folder for its files."""

    seconds: float
    cores: int
    memory: int
    seed: int
    folder: Path

    def count(self, each: float, least: int = 2) -> int:
        """Return the number of units of ``each`` nominal seconds."""
        return max(least, round(self.seconds / each))


class Stages:
    """Counts finished tasks over all stages, and writes the progress file.

    Parameters
    ----------
    path
        The file, or None for no file.
    tasks
        Number of tasks of each stage.
    """

    def __init__(self, path: Path | None, tasks: Iterable[int]) -> None:
        self.path = path
        self.tasks = list(tasks)
        self.stage = 0
        self.parallel = False
        self.done = 0

    def begin(self, parallel: bool) -> None:
        """Start the next stage."""
        self.stage += 1
        self.parallel = parallel
        self.write()

    def step(self) -> None:
        """Count a finished task."""
        self.done += 1
        self.write()

    def write(self) -> None:
        """Replace the file atomically."""
        if self.path is None:
            return
        progress = {
            "stage": self.stage,
            "stages": len(self.tasks),
            "parallel": self.parallel,
            "done": self.done,
            "left": sum(self.tasks) - self.done,
        }
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        temporary.write_text(json.dumps(progress) + "\n", encoding="ascii")
        temporary.replace(self.path)

    def each(self, results: Iterable[Any]) -> Iterator[Any]:
        """Yield results, and count a finished task for each."""
        for result in results:
            self.step()
            yield result


class Checksum:
    """A checksum of all results of a workflow, in the order of its tasks."""

    def __init__(self) -> None:
        self.hash = hashlib.blake2b(digest_size=16)

    def add(self, data: Any) -> None:
        """Add bytes, or an object with a buffer."""
        self.hash.update(memoryview(data).cast("B"))

    def text(self) -> str:
        """Return the checksum in hexadecimal."""
        return self.hash.hexdigest()


def spread(work: Callable[[Any], Any], tasks: Iterable[Any], cores: int) -> Iterator[Any]:
    """Call a function for each task, in one process per core; yield results in the order of the tasks."""
    waiting = iter(enumerate(tasks))
    results: dict[int, Any] = {}
    number_due = 0
    with processes([partial(serve, work)] * cores) as connections:
        busy = set()
        for connection in connections:
            busy |= {connection} if hand_out(connection, waiting) else set()
        while busy:
            for connection in wait(list(busy)):
                number, result = connection.recv()
                results[number] = result
                if not hand_out(connection, waiting):
                    busy.remove(connection)
            while number_due in results:
                yield results.pop(number_due)
                number_due += 1


def hand_out(connection: Connection, waiting: Iterator[tuple[int, Any]]) -> bool:
    """Send the next task, if any, to a worker; return whether there was one."""
    for task in waiting:
        connection.send(task)
        return True
    return False


def serve(work: Callable[[Any], Any], connection: Connection) -> None:
    """Receive tasks and send their results, until the process is killed."""
    while True:
        number, task = connection.recv()
        connection.send((number, work(task)))


@contextmanager
def processes(targets: Iterable[Callable[[Connection], None]]) -> Iterator[list[Connection]]:
    """Start a process for each function, and yield a connection to each; kill the processes at the end."""
    # Forked processes share the data that was loaded before.
    context = get_context("fork")
    started, connections = [], []
    # A signal between the fork and its record would leave a process that is never killed. In the child, a signal right
    # after the fork would run the parent's handler and remove the parent's files.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        for target in targets:
            ours, theirs = context.Pipe()
            process = context.Process(target=child, args=(target, theirs, os.getpid()))
            process.start()
            # Only the child may hold its end, so that this end is closed when the child ends.
            theirs.close()
            started.append(process)
            connections.append(ours)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        yield connections
    except (EOFError, ConnectionError):
        raise SystemExit("a process of this workflow was killed") from None
    finally:
        # A signal must not interrupt this half way.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        kill(started)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def kill(processes: Iterable[BaseProcess]) -> None:
    """Kill processes, and wait for their end."""
    ending = list(processes)
    for process in ending:
        process.kill()
    for process in ending:
        process.join()


def answers(connections: list[Connection]) -> list[Any]:
    """Return the next message of each process; if one was killed, raise an error without waiting for the others."""
    received: dict[Connection, Any] = {}
    while len(received) < len(connections):
        for connection in wait([each for each in connections if each not in received]):
            received[connection] = connection.recv()
    return [received[connection] for connection in connections]


def child(target: Callable[[Connection], None], connection: Connection, parent: int) -> None:
    """Run a function in a child process, which ignores signals and ends with its parent."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        return  # the parent ended before prctl was called
    target(connection)


def size(text: str) -> int:
    """Return the number of bytes of a text such as 200MB or 1.5GB."""
    for unit, factor in UNITS.items():
        if text.upper().endswith(unit):
            return int(float(text[: -len(unit)]) * factor)
    return int(text)


def options(name: str, about: str, arguments: list[str]) -> Options:
    """Parse the command line; exit with status 2 if an option is invalid."""
    parser = argparse.ArgumentParser(prog=name, description=about)
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="nominal time alone on one reference core (s)"
    )
    parser.add_argument("--cores", type=int, default=2, help="processes in parallel stages")
    parser.add_argument(
        "--memory", type=size, default=size("200MB"), help="memory of the allocation, such as 200MB"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the data; does not change the amount of work"
    )
    parser.add_argument("--folder", type=Path, default=None, help="folder for temporary files")
    parsed = parser.parse_args(arguments)
    if not 0 < parsed.seconds <= 1e6:
        parser.error(f"--seconds is {parsed.seconds}, expected above 0, at most a million")
    if not 1 <= parsed.cores <= 1024:
        parser.error(f"--cores is {parsed.cores}, expected 1 to 1024")
    if parsed.memory < 100 * UNITS["MB"]:
        parser.error(
            f"--memory is {parsed.memory} bytes, expected at least 100MB: Python and numpy take a third"
        )
    if parsed.seed < 0:
        parser.error(f"--seed is {parsed.seed}, expected at least 0")
    return Options(parsed.seconds, parsed.cores, parsed.memory, parsed.seed, parsed.folder)


def end(number: int, _: object) -> None:
    """Exit through all open contexts, once."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def main(name: str, about: str, run: Callable[[Options, Path | None, Path], Checksum]) -> None:
    """Run a workflow and print its checksum; exit with 143 after SIGTERM. All files are removed in either case."""
    settings = options(name, about, sys.argv[1:])
    signal.signal(signal.SIGTERM, end)
    progress = os.environ.get(VARIABLE)
    with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=settings.folder) as folder:
        try:
            checksum = run(settings, Path(progress) if progress else None, Path(folder))
        finally:
            # An interrupted stage still has processes, which write files.
            kill(active_children())
    print(f"{name} checksum {checksum.text()}", flush=True)
