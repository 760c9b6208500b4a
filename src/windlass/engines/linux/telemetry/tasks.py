"""Run-queue wait of all threads, from which CPU Ready is computed: ``/proc/PID/task/TID/schedstat``.

The second number in the file is the time, ns, in which the thread could run but had no core. The kernel updates it at
the end of each wait. ``/proc/PID/schedstat`` would be cheaper to read, but covers only a process's first thread.

A thread waits at most as long as the step:

- A wait that ends in a step counts there for at most the length of the step.
- A wait **in progress** is not in the file yet. If more threads are runnable than there are cores, the state of each
  thread that was active in the last steps is read, and one that is runnable but did not run has waited for the whole
  step. What was counted in this way is subtracted when the wait ends.

A thread whose control group was throttled may have waited for its **quota** and not for a core. Such waits are in
``tasks.limited``: of each thread, at most the time for which the group was throttled in the step.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from windlass.engines.linux.telemetry.groups import ControlGroups
from windlass.engines.linux.telemetry.proc_file import ProcFile
from windlass.engines.linux.telemetry.source import Roots, unknown

#: Files that a process may have open in addition to those of threads.
_SPARE = 128
_LINE = 128
#: Steps after its last run or wait in which a thread counts as active.
_ACTIVE = 10


@dataclass(slots=True)
class _Thread:
    waited: int
    ran: int
    #: Its open file; −1 if too many files were open.
    file: int
    #: Part of the wait in progress that was counted before, ns.
    counted: int = 0
    #: Steps since it last ran or waited.
    still: int = 0


@dataclass(slots=True)
class _Process:
    folder: str
    threads: dict[str, _Thread] = field(default_factory=dict)


@dataclass(slots=True)
class _Sum:
    waited: int = 0
    limited: int = 0
    ran: int = 0
    come: int = 0
    gone: int = 0


@dataclass(frozen=True, slots=True)
class _Step:
    """Length of a step, ns; throttled time of groups by path, ns; whether more threads are runnable than cores."""

    length: int
    throttled: Mapping[str, int]
    crowded: bool


class TasksSource:
    """Time in which threads waited and ran, s per second, summed over all; and how many exist, start and end.

    ``tasks.waited`` can far exceed the number of cores: four threads that want one core wait three seconds per second.
    ``tasks.limited`` is the part of it in which a quota may have throttled the thread.

    Parameters
    ----------
    roots
        The mount point of procfs. In a container with its own process namespace, only its own processes are visible.
    groups
        Control groups, read in the same step before; None if unknown, so that no wait counts as limited.
    most
        Number of files to keep open; None for this process's limit with a margin.
    cores
        The machine's cores; None for the number that is online.

    Examples
    --------
    >>> source = TasksSource(Roots())
    >>> dict(zip(source.names, source.read(0.0)))["tasks.threads"] >= 1.0
    True
    """

    names: tuple[str, ...] = (
        "tasks.waited",
        "tasks.limited",
        "tasks.ran",
        "tasks.processes",
        "tasks.threads",
        "tasks.come",
        "tasks.gone",
    )
    files: Sequence[ProcFile] = ()

    def __init__(
        self,
        roots: Roots,
        most: int | None = None,
        groups: ControlGroups | None = None,
        cores: int | None = None,
    ) -> None:
        self._proc, self._groups = os.fspath(roots.proc), groups
        self._load, self._cores = ProcFile(roots.proc / "loadavg"), cores or os.cpu_count() or 1
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
        step = _Step(
            int(1e9 * seconds) if seconds > 0.0 else 0,
            {} if self._groups is None else self._groups.throttled_by_path,
            self._is_crowded(),
        )
        total = _Sum()
        for name in self._processes.keys() - listed:
            total.gone += self._forget(self._processes.pop(name))
        for name in listed:
            process = self._processes.get(name)
            if process is None:
                process = self._processes[name] = _Process(f"{self._proc}/{name}/task")
            waits: list[int] = []
            if self._known(process, step, total, waits):
                self._new(process, step, total, waits)
            total.waited += sum(waits)
            if waits and step.throttled:
                most = _throttled_most(process, step)
                total.limited += sum(min(wait, most) for wait in waits)
        threads = sum(len(process.threads) for process in self._processes.values())
        if not threads:
            return unknown(self.names)
        started, self._started = self._started, True
        counts = [float(sum(1 for each in self._processes.values() if each.threads)), float(threads)]
        if not started or not seconds > 0.0:
            rates = unknown(self.names)
            return [*rates[:3], *counts, *rates[:2]]
        times = [each / 1e9 / seconds for each in (total.waited, total.limited, total.ran)]
        return [*times, *counts, total.come / seconds, total.gone / seconds]

    def close(self) -> None:
        """Close all files."""
        for process in self._processes.values():
            self._forget(process)
        self._processes.clear()

    def _is_crowded(self) -> bool:
        """Return whether more threads are runnable than there are cores; False if unknown."""
        words = (self._load.read() or b"").split()
        runnable = words[3].partition(b"/")[0] if len(words) > 3 else b""
        return runnable.isdigit() and int(runnable) > self._cores

    def _known(self, process: _Process, step: _Step, total: _Sum, waits: list[int]) -> bool:
        """Read the known threads and add their waits; return whether there may be new threads."""
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
                wait = min(max(0, waited - thread.waited - thread.counted), step.length)
                total.ran += max(0, ran - thread.ran)
                thread.waited, thread.ran, thread.counted, thread.still = waited, ran, 0, 0
            else:
                wait = self._in_progress(process, name, thread, step)
            if wait > 0:
                waits.append(wait)
        for name in ended:
            self._close(process.threads.pop(name))
            total.gone += 1
        return moved or bool(ended)

    def _in_progress(self, process: _Process, name: str, thread: _Thread, step: _Step) -> int:
        """Return how long a thread that neither ran nor ended a wait has waited in this step, ns."""
        thread.still += 1
        if not step.crowded or thread.still > _ACTIVE or not _is_runnable(f"{process.folder}/{name}/stat"):
            return 0
        thread.counted, thread.still = thread.counted + step.length, 0
        return step.length

    def _new(self, process: _Process, step: _Step, total: _Sum, waits: list[int]) -> None:
        """Find new threads and add their waits."""
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
            waits.append(min(waited, step.length))
            total.ran += min(ran, step.length)
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


def _is_runnable(path: str) -> bool:
    """Return whether a thread's ``stat`` says that it runs or waits for a core."""
    try:
        text = Path(path).read_bytes()
    except OSError:
        return False
    # The name of the thread is in brackets and may contain any character.
    return text.rpartition(b")")[2].split()[:1] == [b"R"]


def _throttled_most(process: _Process, step: _Step) -> int:
    """Return the time for which the groups of a process were throttled in the step, ns: the longest."""
    try:
        lines = Path(process.folder).with_name("cgroup").read_text(errors="replace").splitlines()
    except OSError:
        return 0
    most = 0
    for line in lines:
        _, _, path = [*line.split(":", 2), "", "", ""][:3]
        for each in (path, *(os.fspath(parent) for parent in Path(path).parents)):
            most = max(most, step.throttled.get(each, 0))
    return most


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
