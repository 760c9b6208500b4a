"""Which of a machine's cores a job may run on: groups of the controller ``cpuset`` (control groups v1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from windlass.engines.linux.files import Files, GroupError, refused
from windlass.engines.linux.members import enter, leave


@dataclass(frozen=True)
class Cores:
    """Groups in ``ROOT/cpuset/NAME`` that keep jobs on cores.

    Processes that somebody else keeps on cores, and so has in a group of this controller, are left there.

    Parameters
    ----------
    root, name, files, proc
        As of :class:`~windlass.engines.linux.v1.V1`.

    Examples
    --------
    >>> Cores(Path("/nowhere")).pin(7, {0})
    Traceback (most recent call last):
    windlass.engines.linux.files.GroupError: /nowhere/cpuset: there is no such folder, expected the controller cpuset
    """

    root: Path
    name: str = "windlass"
    files: Files = field(default_factory=Files)
    proc: Path = Path("/proc")

    @property
    def top(self) -> Path:
        """Where the controller is mounted."""
        return self.root / "cpuset"

    @property
    def base(self) -> Path:
        """The owner's group; it need not exist."""
        return self.top / self.name

    def folder(self, job: int) -> Path:
        """A job's group; it need not exist."""
        return self.base / f"job_{job}"

    def pin(self, job: int, cores: Iterable[int]) -> None:
        """Have a group for a job that keeps its processes on these cores, once they are in it.

        Raises
        ------
        GroupError
            There is no such controller, or the kernel refuses.
        """
        if not self.top.is_dir():
            raise GroupError(f"{self.top}: there is no such folder, expected the controller cpuset")
        # A group has no cores and no memory until it is given some, and cannot have more than the one above.
        for folder, cpus in ((self.base, None), (self.folder(job), ",".join(map(str, sorted(cores))))):
            self.files.make(folder)
            for each in ("cpuset.mems", "cpuset.cpus"):
                wanted = cpus if each == "cpuset.cpus" else None
                self.files.set(folder / each, wanted or self.files.read(self.top / each).strip())

    def enter(self, job: int, pid: int) -> None:
        """Keep a process on its job's cores, if the job has some and nobody else keeps it."""
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
            Somebody is in it.
        """
        try:
            self.files.remove(self.base)
        except OSError as error:
            raise refused(self.base, "remove the group", error) from error


def is_topmost(proc: Path, pid: int, controller: str) -> bool:
    """Whether a process is in the topmost group of a controller, put there by nobody; not where it is gone."""
    try:
        lines = (proc / str(pid) / "cgroup").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return False
    places = [line.split(":", 2) for line in lines]
    return any(controller in place[1].split(",") and place[2] == "/" for place in places)
