"""What the four workflows share: options, stages with progress, processes, a checksum, an orderly end.

A workflow's work is fixed by its options and counted in units, never by a clock: who slows it makes it take longer.
Standard library and numpy only, so that it runs wherever Python does.
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

#: The variable that names the file for progress; without it none is written.
VARIABLE = "WINDLASS_PROGRESS"
#: What asks a workflow to end.
SIGNALS = (signal.SIGTERM, signal.SIGINT)
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True)
class Options:
    """What a workflow is told: nominal seconds on one reference core, cores, bytes, seed, folder for its files."""

    seconds: float
    cores: int
    memory: int
    seed: int
    folder: Path

    def count(self, each: float, least: int = 2) -> int:
        """How many units of so many nominal seconds there are."""
        return max(least, round(self.seconds / each))


class Stages:
    """Counts tasks over all stages, and says so in the file.

    Parameters
    ----------
    path
        The file, or None to tell nobody.
    tasks
        Of each stage.
    """

    def __init__(self, path: Path | None, tasks: Iterable[int]) -> None:
        self.path = path
        self.tasks = list(tasks)
        self.stage = 0
        self.parallel = False
        self.done = 0

    def begin(self, parallel: bool) -> None:
        """The next stage begins."""
        self.stage += 1
        self.parallel = parallel
        self.tell()

    def step(self) -> None:
        """A task has ended."""
        self.done += 1
        self.tell()

    def tell(self) -> None:
        """Replace the file: its reader sees the old line or the new one."""
        if self.path is None:
            return
        said = {
            "stage": self.stage,
            "stages": len(self.tasks),
            "parallel": self.parallel,
            "done": self.done,
            "left": sum(self.tasks) - self.done,
        }
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        beside.write_text(json.dumps(said) + "\n", encoding="ascii")
        beside.replace(self.path)

    def each(self, results: Iterable[Any]) -> Iterator[Any]:
        """Results as they come, one task each."""
        for result in results:
            self.step()
            yield result


class Checksum:
    """Of everything that a workflow computes, in the order of its tasks."""

    def __init__(self) -> None:
        self.hash = hashlib.blake2b(digest_size=16)

    def add(self, data: Any) -> None:
        """Bytes, or anything that has a buffer of them."""
        self.hash.update(memoryview(data).cast("B"))

    def text(self) -> str:
        """As it is printed."""
        return self.hash.hexdigest()


def spread(work: Callable[[Any], Any], tasks: Iterable[Any], cores: int) -> Iterator[Any]:
    """Call a function for each task, in a process a core; results come in the order of the tasks."""
    waiting = iter(enumerate(tasks))
    results: dict[int, Any] = {}
    given = 0
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
            while given in results:
                yield results.pop(given)
                given += 1


def hand_out(connection: Connection, waiting: Iterator[tuple[int, Any]]) -> bool:
    """Give the next task to a worker, where there is one."""
    for task in waiting:
        connection.send(task)
        return True
    return False


def serve(work: Callable[[Any], Any], connection: Connection) -> None:
    """A worker: a task in, its result out, until no more come."""
    while True:
        number, task = connection.recv()
        connection.send((number, work(task)))


@contextmanager
def processes(targets: Iterable[Callable[[Connection], None]]) -> Iterator[list[Connection]]:
    """A process for each function, with a connection to this one; they are ended when the context is left."""
    # Forked, so that they share what was loaded before.
    context = get_context("fork")
    started, connections = [], []
    # A signal between the fork and the note of it would leave a process that nobody ends; one right after it in the
    # process, where the answer is still the parent's, would remove the parent's files.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        for target in targets:
            ours, theirs = context.Pipe()
            process = context.Process(target=child, args=(target, theirs, os.getpid()))
            process.start()
            # Nobody else may hold their end: when they end, ours says so.
            theirs.close()
            started.append(process)
            connections.append(ours)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        yield connections
    except (EOFError, ConnectionError):
        raise SystemExit("a process of this workflow was killed") from None
    finally:
        # Not to be interrupted half way.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        kill(started)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def kill(processes: Iterable[BaseProcess]) -> None:
    """End processes, and wait until they have ended."""
    told = list(processes)
    for process in told:
        process.kill()
    for process in told:
        process.join()


def answers(connections: list[Connection]) -> list[Any]:
    """What each process says next; one that was killed ends the workflow, whatever the others wait for."""
    said: dict[Connection, Any] = {}
    while len(said) < len(connections):
        for connection in wait([each for each in connections if each not in said]):
            said[connection] = connection.recv()
    return [said[connection] for connection in connections]


def child(target: Callable[[Connection], None], connection: Connection, parent: int) -> None:
    """A process of a workflow ends with its parent, and by nothing else: the parent alone answers signals."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        return  # it had ended before it could be said what should happen then
    target(connection)


def size(text: str) -> int:
    """Bytes, as people write them: 200MB, 1.5GB."""
    for unit, factor in UNITS.items():
        if text.upper().endswith(unit):
            return int(float(text[: -len(unit)]) * factor)
    return int(text)


def options(name: str, about: str, arguments: list[str]) -> Options:
    """What the command line says; ends the program with status 2 where that cannot be."""
    parser = argparse.ArgumentParser(prog=name, description=about)
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="nominal time alone on one reference core"
    )
    parser.add_argument("--cores", type=int, default=2, help="processes that work at once in parallel stages")
    parser.add_argument("--memory", type=size, default=size("200MB"), help="what it was given, such as 200MB")
    parser.add_argument("--seed", type=int, default=1, help="another seed is other data, as much work")
    parser.add_argument("--folder", type=Path, default=None, help="where its files are, until it ends")
    said = parser.parse_args(arguments)
    if not 0 < said.seconds <= 1e6:
        parser.error(f"--seconds is {said.seconds}, expected above 0, at most a million")
    if not 1 <= said.cores <= 1024:
        parser.error(f"--cores is {said.cores}, expected 1 to 1024")
    if said.memory < 100 * UNITS["MB"]:
        parser.error(
            f"--memory is {said.memory} bytes, expected at least 100MB: Python and numpy take a third"
        )
    if said.seed < 0:
        parser.error(f"--seed is {said.seed}, expected at least 0")
    return Options(said.seconds, said.cores, said.memory, said.seed, said.folder)


def end(number: int, _: object) -> None:
    """Leave by way of every context that is open, and once."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def main(name: str, about: str, run: Callable[[Options, Path | None, Path], Checksum]) -> None:
    """Run a workflow: its checksum on the last line, status 0; 143 after SIGTERM, with all files removed."""
    given = options(name, about, sys.argv[1:])
    signal.signal(signal.SIGTERM, end)
    told = os.environ.get(VARIABLE)
    with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=given.folder) as folder:
        try:
            checksum = run(given, Path(told) if told else None, Path(folder))
        finally:
            # A stage that was left between two results still has its processes, and they write files.
            kill(active_children())
    print(f"{name} checksum {checksum.text()}", flush=True)
