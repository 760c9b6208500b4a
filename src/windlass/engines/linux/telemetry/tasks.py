"""Run-queue wait of all threads: ``/proc/PID/task/TID/schedstat``, of which CPU Ready is made.

The second number in the file is the time, ns, in which the thread could run and had no core. The kernel adds to it when
the wait is over. ``/proc/PID/schedstat`` would be less to read, but is of a process's first thread alone.

Who comes and goes between two steps:

- A thread that has **come** since the last step counts from its beginning, and never for longer than the step was.
- A thread that has **gone** counts up to the last step in which it was seen: what it waited after that is lost.
- One that **came and went** between two steps is not seen at all. ``schedstat.waited`` has it, where a kernel offers
  that, and ``psi.cpu.some`` says that somebody waited.
- A **process id that is used again** is no trouble: an open file stays that of the thread that it was opened for, and
  cannot be read when that has ended.

Files stay open, so that a step costs a read for each thread. New threads are looked for only in processes of which one
has run since, as nobody else makes them; and the folder of threads is listed only where it says that it has others than
are known.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from windlass.engines.linux.telemetry.proc_file import Held
from windlass.engines.linux.telemetry.source import Roots, unknown

#: Files that a process may have open besides those of threads.
_SPARE = 128
_LINE = 128


@dataclass(slots=True)
class _Thread:
    waited: int
    ran: int
    #: Its open file; −1 where there were too many to keep it open.
    file: int


@dataclass(slots=True)
class _Process:
    folder: str
    threads: dict[str, _Thread] = field(default_factory=dict)


@dataclass(slots=True)
class _Sum:
    waited: int = 0
    ran: int = 0
    come: int = 0
    gone: int = 0


class TasksSource:
    """Seconds a second in which threads waited and ran, summed over all; and how many there are, come and go.

    ``tasks.waited`` includes the time in which a limit kept a thread from running. It can be far above the number of
    cores: four threads that want one core wait three seconds a second.

    Parameters
    ----------
    roots
        Where processes are. In a container that does not share the host's, they are its own alone.
    most
        Files to keep open; None for as many as this process may, less some.

    Examples
    --------
    >>> source = TasksSource(Roots())
    >>> dict(zip(source.names, source.read(0.0)))["tasks.threads"] >= 1.0
    True
    """

    names: tuple[str, ...] = (
        "tasks.waited",
        "tasks.ran",
        "tasks.processes",
        "tasks.threads",
        "tasks.come",
        "tasks.gone",
    )
    files: Sequence[Held] = ()

    def __init__(self, roots: Roots, most: int | None = None) -> None:
        self._proc = os.fspath(roots.proc)
        self._processes: dict[str, _Process] = {}
        self._open = 0
        self._most = _allowed() if most is None else most
        self._begun = False

    def read(self, seconds: float) -> list[float]:
        """As of :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
        try:
            listed = {name for name in os.listdir(self._proc) if name.isdecimal()}
        except OSError:
            return unknown(self.names)
        total = _Sum()
        for name in self._processes.keys() - listed:
            total.gone += self._forget(self._processes.pop(name))
        longest = int(1e9 * seconds) if seconds > 0.0 else 0
        for name in listed:
            process = self._processes.get(name)
            if process is None:
                process = self._processes[name] = _Process(f"{self._proc}/{name}/task")
            if self._known(process, total):
                self._new(process, total, longest)
        threads = sum(len(process.threads) for process in self._processes.values())
        if not threads:
            return unknown(self.names)
        begun, self._begun = self._begun, True
        counts = [float(sum(1 for each in self._processes.values() if each.threads)), float(threads)]
        if not begun or not seconds > 0.0:
            rates = unknown(self.names)
            return [*rates[:2], *counts, *rates[:2]]
        waited, ran = total.waited / 1e9 / seconds, total.ran / 1e9 / seconds
        return [waited, ran, *counts, total.come / seconds, total.gone / seconds]

    def close(self) -> None:
        """Give all files back."""
        for process in self._processes.values():
            self._forget(process)
        self._processes.clear()

    def _known(self, process: _Process, total: _Sum) -> bool:
        """Read the threads that were there before; whether there may be others now."""
        ended, moved = [], not process.threads
        for name, thread in process.threads.items():
            found = self._times(process, name, thread.file)
            if found is None:
                ended.append(name)
                continue
            ran, waited = found
            # Lower than before: without an open file, another thread may have come by the number of one that ended.
            if ran != thread.ran or waited != thread.waited:
                moved = True
                total.waited += max(0, waited - thread.waited)
                total.ran += max(0, ran - thread.ran)
                thread.waited, thread.ran = waited, ran
        for name in ended:
            self._close(process.threads.pop(name))
            total.gone += 1
        return moved or bool(ended)

    def _new(self, process: _Process, total: _Sum, longest: int) -> None:
        """Find the threads that have come since."""
        try:
            if os.stat(process.folder).st_nlink - 2 == len(process.threads):
                return
            names = os.listdir(process.folder)
        except OSError:
            return  # it has ended since it was listed
        for name in names:
            if name in process.threads:
                continue
            file = self._opened(f"{process.folder}/{name}/schedstat")
            found = self._times(process, name, file)
            if found is None:
                if file >= 0:
                    self._close(_Thread(0, 0, file))
                continue
            ran, waited = found
            process.threads[name] = _Thread(waited, ran, file)
            total.waited += min(waited, longest)
            total.ran += min(ran, longest)
            total.come += 1

    def _times(self, process: _Process, name: str, file: int) -> tuple[int, int] | None:
        """Nanoseconds that a thread ran and waited; None where it has ended."""
        try:
            if file >= 0:
                words = os.pread(file, _LINE, 0).split()
            else:
                words = Path(process.folder, name, "schedstat").read_bytes().split()
            return int(words[0]), int(words[1])
        except (OSError, IndexError, ValueError):
            return None

    def _opened(self, path: str) -> int:
        if self._open >= self._most:
            return -1
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return -1
        self._open += 1
        return file

    def _close(self, thread: _Thread) -> None:
        if thread.file >= 0:
            with contextlib.suppress(OSError):
                os.close(thread.file)
            self._open -= 1
            thread.file = -1

    def _forget(self, process: _Process) -> int:
        """Close the files of a process that has ended; how many threads it had."""
        for thread in process.threads.values():
            self._close(thread)
        return len(process.threads)


def _allowed() -> int:
    """Files that may be kept open: as many as the system lets this process have, less some for others."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    most = 65_536 if soft == resource.RLIM_INFINITY else min(soft, 65_536)
    return max(0, most - _SPARE)
