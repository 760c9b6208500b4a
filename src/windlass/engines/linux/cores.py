"""Cores that jobs may run on: groups of the controller ``cpuset`` in cgroups v1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from windlass.engines.linux.files import Files, GroupError, refused
from windlass.engines.linux.members import enter, leave


@dataclass(frozen=True)
class Cores:
    """Groups in ``ROOT/cpuset/NAME`` that pin jobs to cores.

    Processes that are already in another group of this controller are left there.

    Parameters
    ----------
    root, name, files, proc
        See :class:`~windlass.engines.linux.v1.V1`.

    Examples
    --------
    >>> Cores(Path("/nowhere")).pin(7, {0})
    Traceback (most recent call last):
    windlass.engines.linux.files.GroupError: /nowhere/cpuset: no such folder, expected the controller cpuset
    """

    root: Path
    name: str = "windlass"
    files: Files = field(default_factory=Files)
    proc: Path = Path("/proc")

    @property
    def top(self) -> Path:
        """The controller's mount point."""
        return self.root / "cpuset"

    @property
    def base(self) -> Path:
        """The owner's group; it may not exist."""
        return self.top / self.name

    def folder(self, job: int) -> Path:
        """Return a job's group; it may not exist."""
        return self.base / f"job_{job}"

    def pin(self, job: int, cores: Iterable[int]) -> None:
        """Create a group that pins a job's processes to these cores once they are in it.

        Raises
        ------
        GroupError
            The controller is missing, or the kernel refuses.
        """
        if not self.top.is_dir():
            raise GroupError(f"{self.top}: no such folder, expected the controller cpuset")
        # A new group has no cores and no memory, and cannot have more than its parent.
        for folder, cpus in ((self.base, None), (self.folder(job), ",".join(map(str, sorted(cores))))):
            self.files.make(folder)
            for each in ("cpuset.mems", "cpuset.cpus"):
                wanted = cpus if each == "cpuset.cpus" else None
                self.files.set(folder / each, wanted or self.files.read(self.top / each).strip())

    def enter(self, job: int, pid: int) -> None:
        """Pin a process to its job's cores, if the job has some and no other group pins the process."""
        if self.folder(job).is_dir() and is_topmost(self.proc, pid, "cpuset"):
            enter(self.files, self.folder(job), pid)

    def release(self, job: int) -> None:
        """Let a job run on all cores again."""
        if self.folder(job).is_dir():
            leave(self.files, self.folder(job), self.top)

    def remove(self) -> None:
        """Remove the owner's group, once its jobs are released.

        Raises
        ------
        GroupError
            A process is still in it.
        """
        try:
            self.files.remove(self.base)
        except OSError as error:
            raise refused(self.base, "remove the group", error) from error


def is_topmost(proc: Path, pid: int, controller: str) -> bool:
    """Return whether a process is in a controller's topmost group; False if the process has ended."""
    try:
        lines = (proc / str(pid) / "cgroup").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return False
    places = [line.split(":", 2) for line in lines]
    return any(controller in place[1].split(",") and place[2] == "/" for place in places)
