"""Files of control groups: one value a file, written and read whole, with errors that name file and value."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

#: What the kernel's answers mean in a hierarchy of control groups.
_WHY = {
    errno.EACCES: "only root may, or whoever the group was delegated to",
    errno.EPERM: "only root may, or whoever the group was delegated to",
    errno.EROFS: "the hierarchy is mounted read-only",
    errno.ENOENT: "there is no such file: the group is gone, or its controller is not enabled here",
    errno.EINVAL: "the kernel refuses this value",
    errno.EBUSY: "the group is in use",
}


class GroupError(RuntimeError):
    """A control group cannot be used as asked; one line that names the file and the value.

    >>> raise GroupError("/sys/fs/cgroup/cpu/cpu.shares: cannot write '7': only root may")
    Traceback (most recent call last):
    windlass.engines.linux.files.GroupError: /sys/fs/cgroup/cpu/cpu.shares: cannot write '7': only root may
    """


class Files:
    """Reads and writes as the kernel has them. Tests put an imitation in its place."""

    def read(self, path: Path) -> str:
        """All that the file says.

        Raises
        ------
        GroupError
            It cannot be read.
        """
        try:
            return path.read_text(encoding="ascii", errors="replace")
        except OSError as error:
            raise refused(path, "read", error) from error

    def write(self, path: Path, value: str) -> None:
        """One value, in one write, as the kernel asks.

        Raises
        ------
        OSError
            As the kernel says: what it means depends on the value (a process that has ended is no error).
        """
        # Not made where it is missing: then the kernel does not offer it, and an error should say so.
        file = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(file, value.encode("ascii"))
        finally:
            os.close(file)

    def make(self, path: Path) -> None:
        """A group; the kernel fills it with files. One that is there already is as good.

        Raises
        ------
        GroupError
            It cannot be made.
        """
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            raise refused(path, "make the group", error) from error

    def remove(self, path: Path) -> None:
        """Remove a group without processes; one that is gone is as good.

        Raises
        ------
        OSError
            As the kernel says: EBUSY for as long as somebody is inside.
        """
        with contextlib.suppress(FileNotFoundError):
            path.rmdir()

    def set(self, path: Path, value: str) -> None:
        """Write a setting.

        Raises
        ------
        GroupError
            The kernel refuses it.
        """
        try:
            self.write(path, value)
        except OSError as error:
            raise refused(path, f"write '{value}'", error) from error


def refused(path: Path, act: str, error: OSError) -> GroupError:
    """What the kernel refused, and what that means.

    >>> print(refused(Path("cpu.max"), "write 'max'", PermissionError(13, "denied")))
    cpu.max: cannot write 'max': only root may, or whoever the group was delegated to
    """
    why = _WHY.get(error.errno or 0, os.strerror(error.errno) if error.errno else str(error))
    return GroupError(f"{path}: cannot {act}: {why}")


def whole_number(files: Files, path: Path) -> int:
    """A file of one whole number.

    Raises
    ------
    GroupError
        It says something else.
    """
    text = files.read(path).strip()
    try:
        return int(text)
    except ValueError:
        raise GroupError(f"{path}: is '{text[:40]}', expected a whole number") from None


def field(files: Files, path: Path, name: str) -> int:
    """The number after a name, in a file of such lines.

    Raises
    ------
    GroupError
        The file has no such line.
    """
    for line in files.read(path).splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == name and words[1].isdecimal():
            return int(words[1])
    raise GroupError(f"{path}: has no line '{name} NUMBER'")


def pids(files: Files, folder: Path) -> set[int]:
    """The processes in a group, those of groups below it left out; none where it is gone."""
    if not folder.is_dir():
        return set()
    return {int(word) for word in files.read(folder / "cgroup.procs").split()}
