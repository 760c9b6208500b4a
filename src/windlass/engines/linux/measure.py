"""Usage of a job's processes: CPU time, memory, and run-queue wait (threads could run, but had no core).

A batch system may account for its jobs in groups of its own (Slurm: ``cpuacct/slurm_NODE/uid_U/job_N`` and the same
under ``memory``). If the folders of such groups are given, they are read, as they include processes that have ended.
Otherwise ``/proc`` is read, process by process.

**Waiting** is counted by the kernel for each thread, in ``/proc/PID/task/TID/schedstat``. It includes time in which
a limit kept the thread from running, which is subtracted. The kernel counts throttled time per core, not per thread, so
for a limited group with more busy threads than cores too little is subtracted (measured: four busy loops on one core at
50 % wait 3.5 s per second, and are throttled 0.5 s). The figure is right for hosts, which are never limited. Threads
that wait for others of their own job are counted, too. A thread that starts and ends between two samples is missed.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from windlass.engines.linux.files import Files, GroupError, whole_number
from windlass.engines.linux.files import field as field_of
from windlass.engines.linux.members import Members

_TICK = 1.0 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Usage:
    """Cumulative usage of a job; except for memory, only differences between samples of one meter are meaningful.

    Parameters
    ----------
    at
        The time of the sample on the meter's clock, s.
    cpu
        CPU time of all threads, s.
    waited
        Time in which threads could run and had no core, including throttled time, s.
    throttled
        Time in which a limit kept the job's group from running, summed over cores, s.
    memory, peak
        Anonymous and shared memory without page cache, now and the largest sample so far, bytes; NaN if unknown.
    """

    at: float
    cpu: float
    waited: float
    throttled: float
    memory: float
    peak: float


@dataclass(frozen=True, slots=True)
class Spent:
    """A job's usage between two samples, all in seconds.

    Parameters
    ----------
    seconds
        The time between them.
    cpu, throttled
        See :class:`Usage`.
    waited
        Run-queue wait without throttled time.
    """

    seconds: float
    cpu: float
    waited: float
    throttled: float

    def cpu_percent(self, cores: int) -> float:
        """Return the percentage of its cores' time that the job used; NaN over an empty interval.

        >>> Spent(10.0, cpu=9.0, waited=3.0, throttled=0.0).cpu_percent(2)
        45.0
        """
        return _percent(self.cpu, self.seconds * cores)

    def waited_percent(self, cores: int) -> float:
        """Return run-queue wait as a percentage of its cores' time, its loss if all stages are parallel.

        >>> Spent(10.0, cpu=9.0, waited=3.0, throttled=0.0).waited_percent(2)
        15.0
        """
        return _percent(self.waited, self.seconds * cores)

    def contended_percent(self) -> float:
        """Return run-queue wait as a percentage of the time in which threads could run; 0 if they never could.

        This is the part of its own work that was delayed. A job that mostly sleeps loses less than this figure.

        >>> Spent(10.0, cpu=9.0, waited=3.0, throttled=0.0).contended_percent()
        25.0
        """
        wanted = self.waited + self.cpu
        return 100.0 * (self.waited / wanted) if wanted > 0.0 else 0.0


def spent(before: Usage, after: Usage) -> Spent:
    """Return the difference between two samples of one meter.

    The kernel's counters may disagree slightly, so no result is below 0.

    Examples
    --------
    >>> first = Usage(at=5.0, cpu=1.0, waited=2.0, throttled=1.0, memory=1e6, peak=1e6)
    >>> spent(first, Usage(at=7.0, cpu=2.5, waited=5.0, throttled=3.0, memory=1e6, peak=1e6))
    Spent(seconds=2.0, cpu=1.5, waited=1.0, throttled=2.0)
    """
    throttled = max(0.0, after.throttled - before.throttled)
    return Spent(
        seconds=after.at - before.at,
        cpu=max(0.0, after.cpu - before.cpu),
        waited=max(0.0, after.waited - before.waited - throttled),
        throttled=throttled,
    )


@dataclass
class Meter:
    """Measures one job repeatedly, including processes that have ended.

    Parameters
    ----------
    members
        Lists the job's processes.
    clock
        Returns the time, s.
    cpu_group, memory_group
        Folders of groups, v1 or v2, that account for the job's CPU time and memory; None to sum over processes.
    throttled
        Returns the total time for which the job's group was throttled, s.
    proc
        The mount point of procfs.

    Examples
    --------
    >>> import time
    >>> meter = Meter(lambda: [os.getpid()], time.monotonic)
    >>> before = meter.sample()
    >>> after = meter.sample()
    >>> spent(before, after).cpu >= 0.0, after.peak >= after.memory > 0.0
    (True, True)
    """

    members: Members
    clock: Callable[[], float]
    cpu_group: Path | None = None
    memory_group: Path | None = None
    throttled: Callable[[], float] = lambda: 0.0
    proc: Path = Path("/proc")
    _waits: dict[tuple[int, int], float] = field(default_factory=dict, init=False)
    _waits_of_ended: float = field(default=0.0, init=False)
    _last: dict[int, _Process] = field(default_factory=dict, init=False)
    _cpu_of_ended: float = field(default=0.0, init=False)
    _cpu: float = field(default=0.0, init=False)
    _peak: float = field(default=math.nan, init=False)

    def sample(self) -> Usage:
        """Return the job's cumulative usage.

        Raises
        ------
        GroupError
            The accounting group is missing, or its files are invalid.
        """
        at = self.clock()
        pids = sorted(set(self.members()))
        memory = _memory_of_group(self.memory_group) if self.memory_group else _memory_of(self.proc, pids)
        self._peak = max(self._peak, memory) if self._peak == self._peak else memory
        return Usage(
            at=at,
            cpu=_cpu_of_group(self.cpu_group) if self.cpu_group else self._cpu_of(pids),
            waited=self._waited(pids),
            throttled=self.throttled(),
            memory=memory,
            peak=self._peak,
        )

    def _waited(self, pids: list[int]) -> float:
        """Return the run-queue wait of all current and ended threads, s."""
        now = {(pid, thread): wait for pid in pids for thread, wait in _waits(self.proc / str(pid))}
        for thread, wait in self._waits.items():
            # A smaller value means that a new thread has the number of one that has ended.
            if thread not in now or now[thread] < wait:
                self._waits_of_ended += wait
        self._waits = now
        return self._waits_of_ended + sum(now.values())

    def _cpu_of(self, pids: list[int]) -> float:
        """Return the CPU time of all current and ended processes, s.

        A process's account includes ended children that it waited for. The time of an ended process is therefore only
        added here if its parent has ended, too, or was never a member.
        """
        now = {pid: found for pid in pids if (found := _process(self.proc / str(pid))) is not None}
        for pid, last in self._last.items():
            reused = pid in now and now[pid].started != last.started
            if (pid not in now or reused) and last.parent not in now:
                self._cpu_of_ended += last.cpu
        self._last = now
        self._cpu = max(self._cpu, self._cpu_of_ended + sum(each.cpu for each in now.values()))
        return self._cpu


@dataclass(frozen=True, slots=True)
class _Process:
    parent: int
    started: int
    cpu: float


def _process(folder: Path) -> _Process | None:
    """Return parent, start time and CPU time including waited-for children; None for an ended process."""
    try:
        # The second field is the name in brackets, which may itself contain brackets and blanks.
        words = (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return _Process(int(words[1]), int(words[19]), sum(map(int, words[11:15])) * _TICK)


def _waits(folder: Path) -> list[tuple[int, float]]:
    """Return each thread of a process and its run-queue wait, s; empty for an ended process."""
    found: list[tuple[int, float]] = []
    try:
        threads = os.listdir(folder / "task")
    except (FileNotFoundError, ProcessLookupError):
        return found
    for thread in threads:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # this one has ended since
            words = (folder / "task" / thread / "schedstat").read_text(encoding="ascii").split()
            found.append((int(thread), int(words[1]) / 1e9))
    return found


def _memory_of(proc: Path, pids: list[int]) -> float:
    """Return the memory of processes, bytes; shared memory is divided among its users."""
    found = 0
    for pid in pids:
        try:
            lines = (
                (proc / str(pid) / "smaps_rollup").read_text(encoding="ascii", errors="replace").splitlines()
            )
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        words = [line.split() for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:"))]
        found += sum(int(each[1]) for each in words) * 1024
    return float(found)


def _cpu_of_group(folder: Path) -> float:
    """Return the CPU time that a group accounts for, s."""
    if (folder / "cpuacct.usage").exists():
        return whole_number(Files(), folder / "cpuacct.usage") / 1e9
    return field_of(Files(), folder / "cpu.stat", "usage_usec") / 1e6


def _memory_of_group(folder: Path) -> float:
    """Return a group's anonymous and shared memory, bytes; v1 names them ``total_rss`` and ``total_shmem``."""
    path = folder / "memory.stat"
    try:
        names = ("anon", "shmem")
        return float(sum(field_of(Files(), path, name) for name in names))
    except GroupError:
        return float(field_of(Files(), path, "total_rss") + field_of(Files(), path, "total_shmem"))


def _percent(part: float, whole: float) -> float:
    return min(100.0, 100.0 * part / whole) if whole > 0.0 else math.nan
