"""What a job's processes use: CPU time, memory, and the time in which they could run and had no core.

A batch system accounts for its jobs in groups of its own (Slurm: ``cpuacct/slurm_NODE/uid_U/job_N`` and the same under
``memory``). Where the folders of such groups are given, they are read: they include processes that have ended.
Otherwise ``/proc`` is read, process by process.

**Waiting** is counted by the kernel for each thread, in ``/proc/PID/task/TID/schedstat``. It includes the time in which
a limit kept the thread from running, which is subtracted. The kernel counts throttled time by core and not by thread:
of a group that is limited and has more busy threads than cores, too much remains (measured: four hogs on one core at
50 % wait 3.5 s a second, and are throttled 0.5). It is right for hosts, which are never limited. Threads that wait for
others of their own job are counted too. A thread that came and went between two samples is not seen.
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
    """What a job has used up to one instant; only differences of two of one meter mean anything, memory apart.

    Parameters
    ----------
    at
        The instant, s of the meter's clock.
    cpu
        Seconds on a core, of all threads.
    waited
        Seconds in which threads could run and had no core, throttled time included.
    throttled
        Seconds in which a limit kept the job's group from running, summed over cores.
    memory, peak
        Bytes that cannot be dropped, now and at most in any sample so far; NaN where nobody knows. No page cache.
    """

    at: float
    cpu: float
    waited: float
    throttled: float
    memory: float
    peak: float


@dataclass(frozen=True, slots=True)
class Spent:
    """What a job has used between two instants, all in seconds.

    Parameters
    ----------
    seconds
        How long that was.
    cpu, throttled
        As of :class:`Usage`.
    waited
        Without throttled time.
    """

    seconds: float
    cpu: float
    waited: float
    throttled: float

    def cpu_percent(self, cores: int) -> float:
        """Percent of its cores' time that the job used; NaN over no time.

        >>> Spent(10.0, cpu=9.0, waited=3.0, throttled=0.0).cpu_percent(2)
        45.0
        """
        return _percent(self.cpu, self.seconds * cores)

    def waited_percent(self, cores: int) -> float:
        """Percent of its cores' time in which its threads waited for one: what it lost where all stages are parallel.

        >>> Spent(10.0, cpu=9.0, waited=3.0, throttled=0.0).waited_percent(2)
        15.0
        """
        return _percent(self.waited, self.seconds * cores)

    def contended_percent(self) -> float:
        """Percent of the time in which its threads could run that they waited instead; 0 where they never could.

        This is how much of its own work was held up. A job that sleeps most of the time loses less than it says.

        >>> Spent(10.0, cpu=9.0, waited=3.0, throttled=0.0).contended_percent()
        25.0
        """
        wanted = self.waited + self.cpu
        return 100.0 * (self.waited / wanted) if wanted > 0.0 else 0.0


def spent(before: Usage, after: Usage) -> Spent:
    """The difference of two usages of one meter.

    What the kernel counts in two places, and in ticks, may differ by a little: nothing is below 0.

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
    """Measures one job, again and again; it remembers those of its processes that have ended.

    Parameters
    ----------
    members
        Lists the job's processes.
    clock
        Says the time, s.
    cpu_group, memory_group
        Folders of groups, v1 or v2, that account for the job's CPU time and memory; None to sum over processes.
    throttled
        Seconds in which the job's group was throttled so far.
    proc
        Where the kernel shows processes.

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
        """What the job has used up to now.

        Raises
        ------
        GroupError
            A group that accounts for the job is not there, or says something else.
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
        """Run-queue wait of all threads there are and were, s."""
        now = {(pid, thread): wait for pid in pids for thread, wait in _waits(self.proc / str(pid))}
        for thread, wait in self._waits.items():
            # Less than before: another thread has the number of one that has ended.
            if thread not in now or now[thread] < wait:
                self._waits_of_ended += wait
        self._waits = now
        return self._waits_of_ended + sum(now.values())

    def _cpu_of(self, pids: list[int]) -> float:
        """CPU time of all processes there are and were, s.

        A process has in its account those children that have ended and that it waited for. So of a process that has
        ended, time is kept here only where its parent has gone too, or was never a member.
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
    """Parent, start and CPU time with that of children that were waited for; None for one that has ended."""
    try:
        # The name, in brackets, may have brackets and blanks in it: what follows the last one is in fields.
        words = (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return _Process(int(words[1]), int(words[19]), sum(map(int, words[11:15])) * _TICK)


def _waits(folder: Path) -> list[tuple[int, float]]:
    """Each thread of a process and its run-queue wait, s; none for one that has ended."""
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
    """Bytes of processes; what several of them share is counted once, by parts."""
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
    """Seconds that a group accounts for."""
    if (folder / "cpuacct.usage").exists():
        return whole_number(Files(), folder / "cpuacct.usage") / 1e9
    return field_of(Files(), folder / "cpu.stat", "usage_usec") / 1e6


def _memory_of_group(folder: Path) -> float:
    """Bytes that a group accounts for and that cannot be dropped; v1 says ``total_rss`` where v2 says ``anon``."""
    path = folder / "memory.stat"
    try:
        names = ("anon", "shmem")
        return float(sum(field_of(Files(), path, name) for name in names))
    except GroupError:
        return float(field_of(Files(), path, "total_rss") + field_of(Files(), path, "total_shmem"))


def _percent(part: float, whole: float) -> float:
    return min(100.0, 100.0 * part / whole) if whole > 0.0 else math.nan
