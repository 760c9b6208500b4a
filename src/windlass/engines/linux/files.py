"""Files of cgroups: one value a file, read and written as a whole, with errors that name file and value."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

#: Explanations of the kernel's errors in a cgroup hierarchy.
_WHY = {
    errno.EACCES: "only root may, or the user that owns a delegated group",
    errno.EPERM: "only root may, or the user that owns a delegated group",
    errno.EROFS: "the hierarchy is mounted read-only",
    errno.ENOENT: "no such file: the group is gone, or its controller is not enabled here",
    errno.EINVAL: "the kernel refuses this value",
    errno.EBUSY: "the group is in use",
}


class GroupError(RuntimeError):
    """A cgroup operation failed; the message is one line that names the file and the value.

    >>> raise GroupError("/sys/fs/cgroup/cpu/cpu.shares: cannot write '7': only root may")
    Traceback (most recent call last):
    windlass.engines.linux.files.GroupError: /sys/fs/cgroup/cpu/cpu.shares: cannot write '7': only root may
    """


class Files:
    """Access to cgroup files through the kernel. Tests replace it with a fake."""

    def read(self, path: Path) -> str:
        """Return a file's content.

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
        """Write one value in a single write, as the kernel requires.

        Raises
        ------
        OSError
            The kernel's error: its meaning depends on the value (an ended process is not an error).
        """
        # Without O_CREAT: a missing file means that the kernel does not offer it, which must be an error.
        file = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(file, value.encode("ascii"))
        finally:
            os.close(file)

    def make(self, path: Path) -> None:
        """Create a group, which the kernel fills with files; an existing one is not an error.

        Raises
        ------
        GroupError
            It cannot be created.
        """
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            raise refused(path, "make the group", error) from error

    def remove(self, path: Path) -> None:
        """Remove an empty group; a missing one is not an error.

        Raises
        ------
        OSError
            The kernel's error: EBUSY while a process is in the group.
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
    """Return an error for an operation that the kernel refused, with an explanation.

    >>> print(refused(Path("cpu.max"), "write 'max'", PermissionError(13, "denied")))
    cpu.max: cannot write 'max': only root may, or the user that owns a delegated group
    """
    why = _WHY.get(error.errno or 0, os.strerror(error.errno) if error.errno else str(error))
    return GroupError(f"{path}: cannot {act}: {why}")


def whole_number(files: Files, path: Path) -> int:
    """Read a file that holds one whole number.

    Raises
    ------
    GroupError
        The file has other content.
    """
    text = files.read(path).strip()
    try:
        return int(text)
    except ValueError:
        raise GroupError(f"{path}: is '{text[:40]}', expected a whole number") from None


def field(files: Files, path: Path, name: str) -> int:
    """Read the number after a name, in a file of such lines.

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
    """Return the processes in a group, without those of its subgroups; empty if the group is gone."""
    if not folder.is_dir():
        return set()
    return {int(word) for word in files.read(folder / "cgroup.procs").split()}
