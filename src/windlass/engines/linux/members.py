"""Which processes a job has: found in ``/proc`` or in a group of somebody else, and taken in while they fork."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from windlass.engines.linux.files import Files, GroupError, pids, refused

#: Lists the processes of a job. It is asked again until it names nobody new.
Members = Callable[[], Iterable[int]]

#: Listings after which a job that forks faster than it can be listed is given up on.
ROUNDS = 1000
#: Tries, 5 ms apart, after which a group that somebody stays in is given up on.
TRIES = 200


def descendants(roots: Iterable[int], proc: Path = Path("/proc")) -> set[int]:
    """These processes and all their living descendants.

    A process whose parent has ended belongs to another parent, and is not found: give it as a root, or list a group.

    Parameters
    ----------
    roots
        Process ids; those that have ended are left out.
    proc
        Where the kernel shows processes.

    Examples
    --------
    >>> os.getpid() in descendants([os.getpid()])
    True
    """
    found: set[int] = set()
    to_see = list(roots)
    while to_see:
        pid = to_see.pop()
        if pid not in found and (children := _children(proc / str(pid))) is not None:
            found.add(pid)
            to_see += children
    return found


def below(folder: Path) -> set[int]:
    """The processes of a group and of all groups below it, such as a batch system's group of a job.

    Examples
    --------
    >>> below(Path("/nowhere"))
    set()
    """
    found: set[int] = set()
    for each, _, _ in os.walk(folder):
        try:
            found |= pids(Files(), Path(each))
        except GroupError:
            continue  # the group has ended since it was listed
    return found


def take(files: Files, folder: Path, members: Members, beside: Callable[[int], None] | None = None) -> int:
    """Move processes into a group with all their threads, until a listing names nobody new.

    A child that is forked by a process outside, after it was listed and before it is moved, is outside too; the next
    listing has it. A child of a process inside is inside. So this ends once every process of the job was moved.

    Parameters
    ----------
    files
        The kernel's, or an imitation.
    folder
        The group.
    members
        Lists the job's processes. Those that have ended since are passed over.
    beside
        What else is done with each process that was moved.

    Returns
    -------
    int
        How many were moved.

    Raises
    ------
    GroupError
        The kernel refuses one, or the job never stops having new ones.
    """
    seen = pids(files, folder)
    moved = 0
    for _ in range(ROUNDS):
        new = set(members()) - seen
        if not new:
            return moved
        for pid in sorted(new):
            if enter(files, folder, pid):
                moved += 1
                if beside is not None:
                    beside(pid)
        seen |= new
    raise GroupError(f"{folder}/cgroup.procs: the job still has new processes after {ROUNDS} listings")


def enter(files: Files, folder: Path, pid: int) -> bool:
    """Move one process into a group with all its threads; whether it was still there.

    Raises
    ------
    GroupError
        The kernel refuses it.
    """
    path = folder / "cgroup.procs"
    try:
        files.write(path, str(pid))
    except ProcessLookupError:
        return False
    except OSError as error:
        raise refused(path, f"write '{pid}'", error) from error
    return True


def _moment() -> None:
    time.sleep(0.005)


def leave(files: Files, folder: Path, home: Path, pause: Callable[[], None] = _moment) -> None:
    """Move all processes of a group home, and remove it; one that is gone is as good.

    Parameters
    ----------
    files, folder
        As of :func:`take`.
    home
        The group that takes the processes.
    pause
        Waits a moment, for processes that are about to end.

    Raises
    ------
    GroupError
        Somebody stays inside.
    """
    for _ in range(TRIES):
        for pid in pids(files, folder):
            enter(files, home, pid)
        try:
            return files.remove(folder)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise refused(folder, "remove the group", error) from error
        pause()
    raise GroupError(f"{folder}: cannot remove the group: {sorted(pids(files, folder))} stay in it")


def _children(folder: Path) -> list[int] | None:
    """Children of all threads of a process; None for one that has ended."""
    found: list[int] = []
    try:
        for thread in os.listdir(folder / "task"):
            try:
                found += map(int, (folder / "task" / thread / "children").read_text().split())
            except (FileNotFoundError, ProcessLookupError):
                continue  # this thread has ended; its children are another thread's now
    except (FileNotFoundError, ProcessLookupError):
        return None
    return found
