"""Job groups in cgroups v1, with one hierarchy per controller.

Processes are moved only in ``cpu``, so other owners' groups are unchanged: Slurm uses ``memory``, ``freezer`` and
``cpuacct``, but not ``cpu``. A process in the topmost group of ``cpuacct`` has no accounting and is moved there, too;
likewise in ``cpuset`` if its job is pinned to cores. If ``cpu`` and ``cpuacct`` are mounted together, a move in one is
a move in both.
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

#: The weight of one ordinary process, and the kernel's bounds (``cpu.shares``).
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
        Access to the files.
    proc
        The mount point of procfs.
    cores
        The machine's cores, which are the weight of the owner's group.

    Examples
    --------
    >>> V1(Path("/nowhere")).available()
    '/nowhere/cpu/cpu.cfs_quota_us: no such file, expected the controller cpu of cgroups v1'
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
        """The owner's group in the controller that accounts for CPU time; it may not exist."""
        return self.root / "cpuacct" / self.name

    def available(self) -> str | None:
        """Return why groups cannot be created, or None."""
        quota = self.root / "cpu" / "cpu.cfs_quota_us"
        if not quota.exists():
            return f"{quota}: no such file, expected the controller cpu of cgroups v1"
        if not os.access(quota.parent, os.W_OK):
            return (
                f"{quota.parent}: not writable by user {os.geteuid()}, expected root and no read-only mount"
            )
        return None

    def jobs(self) -> list[int]:
        """Return the jobs that have a group."""
        return jobs_below(self.base)

    def create(self, job: int) -> Path:
        """Create a group for the job."""
        if (why := self.available()) is not None:
            raise GroupError(why)
        self.files.make(self.base)
        self.files.set(self.base / "cpu.shares", str(weighed(self.cores, DEFAULT, LEAST, MOST)))
        folder = folder_of(self.base, job)
        self.files.make(folder)
        return folder

    def take(self, job: int, members: Members) -> int:
        """Move the job's processes into its group."""
        return take(
            self.files, folder_of(self.base, job), members, lambda pid: self._join_other_groups(job, pid)
        )

    def pin(self, job: int, cores: Iterable[int]) -> None:
        """Pin the group to these cores; call it before its processes are moved in."""
        self._cores.pin(job, cores)

    def limit(self, job: int, cores: float | None) -> None:
        """Limit the group."""
        quota, period = (-1, PERIOD) if cores is None else bandwidth(cores)
        folder = folder_of(self.base, job)
        # In this order the limit between the two writes never exceeds both the old and the new one, as a long period
        # has a small quota.
        self.files.set(folder / "cpu.cfs_quota_us", str(quota))
        self.files.set(folder / "cpu.cfs_period_us", str(period))

    def weigh(self, job: int, weight: float) -> None:
        """Set the group's weight."""
        value = weighed(weight, DEFAULT, LEAST, MOST)
        self.files.set(folder_of(self.base, job) / "cpu.shares", str(value))

    def usage(self, job: int) -> GroupUsage:
        """Return its usage; v1 accounts for memory in another controller, if at all."""
        throttled = field_of(self.files, folder_of(self.base, job) / "cpu.stat", "throttled_time")
        account = folder_of(self.accounts, job) / "cpuacct.usage"
        cpu = whole_number(self.files, account) / 1e9 if account.exists() else math.nan
        return GroupUsage(cpu=cpu, throttled=throttled / 1e9)

    def release(self, job: int) -> None:
        """Lift the limit, and remove the group."""
        folder = folder_of(self.base, job)
        try:
            if folder.is_dir():
                self.limit(job, None)
                self.weigh(job, 1.0)
                leave(self.files, folder, self.root / "cpu")
        finally:
            self._cores.release(job)
        account = folder_of(self.accounts, job)
        if account.is_dir():
            leave(self.files, account, self.root / "cpuacct")

    def release_all(self) -> None:
        """Lift all limits, then remove all groups."""
        jobs = sorted({*self.jobs(), *jobs_below(self.accounts), *jobs_below(self._cores.base)})
        # Limits are lifted first, as the removal of a group may have to wait for a process that is about to end.
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

    def _join_other_groups(self, job: int, pid: int) -> None:
        self._cores.enter(job, pid)
        self._account(job, pid)

    def _account(self, job: int, pid: int) -> None:
        """Move a process in ``cpuacct``, too, if it is in the topmost group, so that no other account loses it."""
        if not (self.root / "cpuacct" / "cpuacct.usage").exists() or not is_topmost(
            self.proc, pid, "cpuacct"
        ):
            return
        self.files.make(self.accounts)
        folder = folder_of(self.accounts, job)
        self.files.make(folder)
        enter(self.files, folder, pid)
