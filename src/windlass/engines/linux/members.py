"""The processes of a job, from ``/proc`` or another owner's group, and moves of them between groups while they fork."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from windlass.engines.linux.files import Files, GroupError, pids, refused

#: Lists the processes of a job. It is called again until it returns no new process.
Members = Callable[[], Iterable[int]]

#: Listings after which :func:`take` fails, as the job forks faster than it can be listed.
ROUNDS = 1000
#: Attempts, 5 ms apart, after which :func:`leave` fails, as a process stays in the group.
TRIES = 200


def descendants(roots: Iterable[int], proc: Path = Path("/proc")) -> set[int]:
    """Return these processes and all their living descendants.

    A process is not found if its parent has ended: pass it as a root, or list a group.

    Parameters
    ----------
    roots
        Process ids; ended ones are left out.
    proc
        The mount point of procfs.

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
    """Return the processes of a group and all its subgroups, such as a batch system's group of a job.

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


def take(files: Files, folder: Path, members: Members, on_move: Callable[[int], None] | None = None) -> int:
    """Move processes into a group with all their threads, until a listing has no new process.

    A child that is forked outside the group after a listing is found by the next one. A child of a process in the group
    is in it, too. The loop therefore ends once every process of the job was moved.

    Parameters
    ----------
    files
        Access to the files.
    folder
        The group.
    members
        Lists the job's processes. Processes that have ended since are skipped.
    on_move
        Called with each process that was moved.

    Returns
    -------
    int
        The number of moved processes.

    Raises
    ------
    GroupError
        The kernel refuses a process, or the job never stops forking.
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
                if on_move is not None:
                    on_move(pid)
        seen |= new
    raise GroupError(f"{folder}/cgroup.procs: the job still has new processes after {ROUNDS} listings")


def enter(files: Files, folder: Path, pid: int) -> bool:
    """Move one process into a group with all its threads; return whether it still existed.

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
    """Move all processes of a group to another one, and remove it; a missing group is not an error.

    Parameters
    ----------
    files, folder
        See :func:`take`.
    home
        The group to which the processes are moved.
    pause
        Waits a moment for processes that are about to end.

    Raises
    ------
    GroupError
        A process stays in the group.
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
    """Return the children of all threads of a process; None for an ended process."""
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
