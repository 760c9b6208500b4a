"""Run-queue wait of all threads, from which CPU Ready is computed: ``/proc/PID/task/TID/schedstat``.

The second number in the file is the time, ns, in which the thread could run but had no core. The kernel updates it at
the end of each wait. ``/proc/PID/schedstat`` would be cheaper to read, but covers only a process's first thread.

Threads that start or end between two steps:

- A **new** thread counts from its start, but for at most the length of the step.
- An **ended** thread counts up to the last step in which it was read: its wait after that is lost.
- A thread that **starts and ends** between two steps is missed. ``schedstat.waited`` includes it if the kernel has that
  file, and ``psi.cpu.some`` shows that a task waited.
- A **reused process id** is detected: an open file belongs to the thread for which it was opened, and cannot be read
  once that thread has ended.

Files stay open, so that a step costs one read per thread. New threads are searched only in processes with a thread that
ran since the last step, as only a running thread can start others; and the folder of threads is listed only if its link
count differs from the number of known threads.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from windlass.engines.linux.telemetry.proc_file import ProcFile
from windlass.engines.linux.telemetry.source import Roots, unknown

#: Files that a process may have open in addition to those of threads.
_SPARE = 128
_LINE = 128


@dataclass(slots=True)
class _Thread:
    waited: int
    ran: int
    #: Its open file; −1 if too many files were open.
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
    """Time in which threads waited and ran, s per second, summed over all; and how many exist, start and end.

    ``tasks.waited`` includes the time in which a limit throttled a thread. It can far exceed the number of cores: four
    threads that want one core wait three seconds per second.

    Parameters
    ----------
    roots
        The mount point of procfs. In a container with its own process namespace, only its own processes are visible.
    most
        Number of files to keep open; None for this process's limit with a margin.

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
    files: Sequence[ProcFile] = ()

    def __init__(self, roots: Roots, most: int | None = None) -> None:
        self._proc = os.fspath(roots.proc)
        self._processes: dict[str, _Process] = {}
        self._open = 0
        self._most = _allowed() if most is None else most
        self._started = False

    def read(self, seconds: float) -> list[float]:
        """See :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
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
        started, self._started = self._started, True
        counts = [float(sum(1 for each in self._processes.values() if each.threads)), float(threads)]
        if not started or not seconds > 0.0:
            rates = unknown(self.names)
            return [*rates[:2], *counts, *rates[:2]]
        waited, ran = total.waited / 1e9 / seconds, total.ran / 1e9 / seconds
        return [waited, ran, *counts, total.come / seconds, total.gone / seconds]

    def close(self) -> None:
        """Close all files."""
        for process in self._processes.values():
            self._forget(process)
        self._processes.clear()

    def _known(self, process: _Process, total: _Sum) -> bool:
        """Read the known threads; return whether there may be new ones."""
        ended, moved = [], not process.threads
        for name, thread in process.threads.items():
            found = self._times(process, name, thread.file)
            if found is None:
                ended.append(name)
                continue
            ran, waited = found
            # A lower value: without an open file, a new thread may have the number of one that ended.
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
        """Find new threads."""
        try:
            if os.stat(process.folder).st_nlink - 2 == len(process.threads):
                return
            names = os.listdir(process.folder)
        except OSError:
            return  # the process has ended since it was listed
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
        """Return the time that a thread ran and waited, ns; None if it has ended."""
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
        """Close the files of an ended process; return its number of threads."""
        for thread in process.threads.values():
            self._close(thread)
        return len(process.threads)


def _allowed() -> int:
    """Return the number of files that may be kept open: this process's limit with a margin for others."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    most = 65_536 if soft == resource.RLIM_INFINITY else min(soft, 65_536)
    return max(0, most - _SPARE)
