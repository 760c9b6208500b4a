"""Job groups where each controller has a hierarchy of its own (control groups v1).

Processes are moved in ``cpu`` alone, so groups of others stay as they are: Slurm uses ``memory``, ``freezer`` and
``cpuacct``, and leaves ``cpu`` alone. Where nobody accounts for a process, which then is in the topmost group of
``cpuacct``, it is moved there too; likewise in ``cpuset``, where its job is kept on cores. Where ``cpu`` and
``cpuacct`` are mounted as one, a move in one is a move in both.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from windlass.engines.linux.cores import Cores, is_topmost
from windlass.engines.linux.files import Files, GroupError, refused, whole_number
from windlass.engines.linux.files import field as field_of
from windlass.engines.linux.groups import (
    NAME,
    PERIOD,
    GroupUsage,
    bandwidth,
    each_of,
    folder_of,
    jobs_below,
    weighed,
)
from windlass.engines.linux.members import Members, enter, leave, take

#: The weight of one ordinary process, and what the kernel accepts (``cpu.shares``).
DEFAULT, LEAST, MOST = 1024, 2, 262_144


@dataclass(frozen=True)
class V1:
    """Job groups in ``ROOT/cpu/NAME``; see :class:`~windlass.engines.linux.groups.JobGroups`.

    Parameters
    ----------
    root
        The folder in which the controllers are mounted.
    name
        The owner's group.
    files
        How files are read and written.
    proc
        Where the kernel shows processes.
    cores
        Of the machine: the weight of the owner's group.

    Examples
    --------
    >>> V1(Path("/nowhere")).available()
    '/nowhere/cpu/cpu.cfs_quota_us: there is no such file, expected the controller cpu of control groups v1'
    """

    root: Path
    name: str = NAME
    files: Files = field(default_factory=Files)
    proc: Path = Path("/proc")
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)

    kind = "v1"

    @property
    def base(self) -> Path:
        """The owner's group."""
        return self.root / "cpu" / self.name

    @property
    def accounts(self) -> Path:
        """The owner's group of the controller that accounts for CPU time; it need not exist."""
        return self.root / "cpuacct" / self.name

    def available(self) -> str | None:
        """Why not, or None."""
        quota = self.root / "cpu" / "cpu.cfs_quota_us"
        if not quota.exists():
            return f"{quota}: there is no such file, expected the controller cpu of control groups v1"
        if not os.access(quota.parent, os.W_OK):
            return f"{quota.parent}: may not be written by user {os.geteuid()}, expected root and no read-only mount"
        return None

    def jobs(self) -> list[int]:
        """Jobs that have a group."""
        return jobs_below(self.base)

    def create(self, job: int) -> Path:
        """A group for the job."""
        if (why := self.available()) is not None:
            raise GroupError(why)
        self.files.make(self.base)
        self.files.set(self.base / "cpu.shares", str(weighed(self.cores, DEFAULT, LEAST, MOST)))
        folder = folder_of(self.base, job)
        self.files.make(folder)
        return folder

    def take(self, job: int, members: Members) -> int:
        """Move the job's processes in."""
        return take(self.files, folder_of(self.base, job), members, lambda pid: self._beside(job, pid))

    def pin(self, job: int, cores: Iterable[int]) -> None:
        """Keep the group on these cores; asked for before its processes are taken in."""
        self._cores.pin(job, cores)

    def limit(self, job: int, cores: float | None) -> None:
        """Limit the group."""
        quota, period = (-1, PERIOD) if cores is None else bandwidth(cores)
        folder = folder_of(self.base, job)
        # In this order the limit between the two writes is never above both that before and that after: a long
        # period comes with a small quota.
        self.files.set(folder / "cpu.cfs_quota_us", str(quota))
        self.files.set(folder / "cpu.cfs_period_us", str(period))

    def weigh(self, job: int, weight: float) -> None:
        """Weigh the group."""
        value = weighed(weight, DEFAULT, LEAST, MOST)
        self.files.set(folder_of(self.base, job) / "cpu.shares", str(value))

    def usage(self, job: int) -> GroupUsage:
        """What it has used; memory is accounted for by others on v1, if at all."""
        throttled = field_of(self.files, folder_of(self.base, job) / "cpu.stat", "throttled_time")
        account = folder_of(self.accounts, job) / "cpuacct.usage"
        cpu = whole_number(self.files, account) / 1e9 if account.exists() else math.nan
        return GroupUsage(cpu=cpu, throttled=throttled / 1e9)

    def release(self, job: int) -> None:
        """Lift the limit, and remove the group."""
        folder = folder_of(self.base, job)
        if folder.is_dir():
            self.limit(job, None)
            self.weigh(job, 1.0)
            leave(self.files, folder, self.root / "cpu")
        self._cores.release(job)
        account = folder_of(self.accounts, job)
        if account.is_dir():
            leave(self.files, account, self.root / "cpuacct")

    def release_all(self) -> None:
        """Lift all limits, then remove all groups."""
        jobs = sorted({*self.jobs(), *jobs_below(self.accounts), *jobs_below(self._cores.base)})
        # What hurts ends first: removing a group may have to wait for a process that is about to end.
        each_of(self.jobs(), lambda job: self.limit(job, None))
        wrong = each_of(jobs, self.release)
        if wrong:
            raise GroupError("; ".join(wrong))
        self._cores.remove()
        for base in (self.base, self.accounts):
            try:
                self.files.remove(base)
            except OSError as error:
                raise refused(base, "remove the group", error) from error

    @property
    def _cores(self) -> Cores:
        return Cores(self.root, self.name, self.files, self.proc)

    def _beside(self, job: int, pid: int) -> None:
        self._cores.enter(job, pid)
        self._account(job, pid)

    def _account(self, job: int, pid: int) -> None:
        """Move a process in ``cpuacct`` too, where it is in the topmost group: nobody else's figures lose it."""
        if not (self.root / "cpuacct" / "cpuacct.usage").exists() or not is_topmost(
            self.proc, pid, "cpuacct"
        ):
            return
        self.files.make(self.accounts)
        folder = folder_of(self.accounts, job)
        self.files.make(folder)
        enter(self.files, folder, pid)
