"""Job groups in cgroups v2, with a single hierarchy.

A process is in exactly one group, for all controllers. **Moving it takes it out of its owner's group**: a batch system
that keeps its jobs in cgroups v2 loses track of moved processes. In that case, set limits on its own groups instead;
this module is for processes without a group of their own.

Controllers must be delegated: ``cpu`` must be in the ``cgroup.controllers`` of the given folder. Only the topmost group
may have both processes and groups with controllers. If the folder is not the topmost group, released processes go to
``windlass/free``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from windlass.engines.linux.files import Files, GroupError, refused
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
from windlass.engines.linux.members import Members, leave, take

#: The weight of one ordinary process, and the kernel's bounds (``cpu.weight``).
DEFAULT, LEAST, MOST = 100, 1, 10_000


@dataclass(frozen=True)
class V2:
    """Job groups in ``ROOT/NAME``; see :class:`~windlass.engines.linux.groups.JobGroups`.

    Parameters
    ----------
    root
        The hierarchy's mount point, or a delegated group.
    name
        The owner's group.
    files
        Access to the files.
    cores
        The machine's cores, which are the weight of the owner's group.

    Examples
    --------
    >>> V2(Path("/nowhere")).available()
    '/nowhere/cgroup.controllers: no such file, expected cgroups v2'
    """

    root: Path
    name: str = NAME
    files: Files = field(default_factory=Files)
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)

    kind = "v2"

    @property
    def base(self) -> Path:
        """The owner's group."""
        return self.root / self.name

    def available(self) -> str | None:
        """Return why groups cannot be created, or None."""
        controllers = self.root / "cgroup.controllers"
        if not controllers.exists():
            return f"{controllers}: no such file, expected cgroups v2"
        offered = self.files.read(controllers).split()
        if "cpu" not in offered:
            return f"{controllers}: is '{' '.join(offered)}', expected cpu among them: it is not delegated"
        if not os.access(self.root, os.W_OK):
            return f"{self.root}: not writable by user {os.geteuid()}, expected root and no read-only mount"
        return None

    def jobs(self) -> list[int]:
        """Return the jobs that have a group."""
        return jobs_below(self.base)

    def create(self, job: int) -> Path:
        """Create a group for the job."""
        if (why := self.available()) is not None:
            raise GroupError(why)
        self._enable(self.root)
        self.files.make(self.base)
        self._enable(self.base)
        self.files.set(self.base / "cpu.weight", str(weighed(self.cores, DEFAULT, LEAST, MOST)))
        folder = folder_of(self.base, job)
        self.files.make(folder)
        return folder

    def take(self, job: int, members: Members) -> int:
        """Move the job's processes into its group."""
        return take(self.files, folder_of(self.base, job), members)

    def pin(self, job: int, cores: Iterable[int]) -> None:
        """Raise GroupError: a batch system that uses cgroups v2 pins its jobs in them as well."""
        raise GroupError(f"{self.base}: jobs can only be pinned to cores in cgroups v1")

    def limit(self, job: int, cores: float | None) -> None:
        """Limit the group."""
        quota, period = ("max", PERIOD) if cores is None else bandwidth(cores)
        self.files.set(folder_of(self.base, job) / "cpu.max", f"{quota} {period}")

    def weigh(self, job: int, weight: float) -> None:
        """Set the group's weight."""
        value = weighed(weight, DEFAULT, LEAST, MOST)
        self.files.set(folder_of(self.base, job) / "cpu.weight", str(value))

    def usage(self, job: int) -> GroupUsage:
        """Return its usage; with memory if that controller is delegated, too."""
        folder = folder_of(self.base, job)
        memory = math.nan
        if (folder / "memory.stat").exists():
            memory = sum(field_of(self.files, folder / "memory.stat", each) for each in ("anon", "shmem"))
        return GroupUsage(
            cpu=field_of(self.files, folder / "cpu.stat", "usage_usec") / 1e6,
            throttled=field_of(self.files, folder / "cpu.stat", "throttled_usec") / 1e6,
            memory=memory,
        )

    def release(self, job: int) -> None:
        """Lift the limit, and remove the group."""
        folder = folder_of(self.base, job)
        if folder.is_dir():
            self.limit(job, None)
            self.weigh(job, 1.0)
            leave(self.files, folder, self._home())

    def release_all(self) -> None:
        """Lift all limits, then remove all groups."""
        # Limits are lifted first, as the removal of a group may have to wait for a process that is about to end.
        each_of(self.jobs(), lambda job: self.limit(job, None))
        wrong = each_of(self.jobs(), self.release)
        if wrong:
            raise GroupError("; ".join(wrong))
        if (self.base / "free").is_dir():
            return  # released processes remain in this group, which has no limit
        try:
            self.files.remove(self.base)
        except OSError as error:
            raise refused(self.base, "remove the group", error) from error

    def _enable(self, folder: Path) -> None:
        """Enable ``cpu`` for subgroups, and ``memory`` if it is offered, for measurements."""
        path = folder / "cgroup.subtree_control"
        given = self.files.read(path).split()
        offered = self.files.read(folder / "cgroup.controllers").split()
        for controller in ("cpu", "memory"):
            if controller in offered and controller not in given:
                self.files.set(path, f"+{controller}")

    def _home(self) -> Path:
        """Return the group for released processes; only the topmost group has no file ``cgroup.type``."""
        if not (self.root / "cgroup.type").exists():
            return self.root
        free = self.base / "free"
        self.files.make(free)
        return free
