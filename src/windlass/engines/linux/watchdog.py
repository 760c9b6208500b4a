"""Watchdog: a small process that lifts an owner's quotas when the owner ends.

A driver that dies leaves its limits behind, and its jobs would stay slow for ever. Before it sets any limit, it
therefore starts this process, with a pipe as its standard input. When the pipe closes or the owner ends, even if it is
killed, the watchdog releases every group of the owner and ends, too. It has its own session and ignores SIGTERM, SIGINT
and SIGHUP, so that signals to the owner do not end it first.

It holds a lock on the owner's group. This admits one driver per name: a new one waits until the groups of its dead
predecessor are released, so that the old watchdog cannot release the new driver's groups.

Both the pipe and the process are watched. The pipe alone may stay open in a child that was forked without exec, and the
process alone may continue after the ``with`` block.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from windlass.engines.linux.files import Files, GroupError
from windlass.engines.linux.groups import JobGroups, open_groups

#: Attempts, 20 ms apart, to take the lock: a predecessor's watchdog may be about to release its groups.
TRIES = 150
#: Attempts to release a group that cannot be removed yet.
RELEASES = 3


@contextmanager
def watched(groups: JobGroups) -> Iterator[subprocess.Popen[str]]:
    """Return a context in which a watchdog releases the owner's groups when this process ends, and at its exit.

    Parameters
    ----------
    groups
        The owner's groups. Set no limit before the context is entered.

    Yields
    ------
    subprocess.Popen
        The running watchdog. If its ``poll()`` is no longer None, it was killed: lift the limits.

    Raises
    ------
    GroupError
        It did not start: another driver has this name, or groups cannot be used. At exit: a group could not be
        released.
    """
    if (why := groups.available()) is not None:
        raise GroupError(why)
    package = Path(__file__).parents[3]
    # -P: do not import from root's current folder.
    command = [
        sys.executable,
        "-P",
        "-m",
        __name__,
        groups.kind,
        str(groups.root),
        groups.name,
        str(os.getpid()),
    ]
    path = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        answer = process.stdout.readline().strip()
        if answer != "up":
            raise GroupError(answer or f"{groups.base}: the watchdog ended before it was ready")
        yield process
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        left = process.stdout.read().strip()
        process.stdout.close()
        process.wait()
    if left or process.returncode:
        raise GroupError(left or f"{groups.base}: the watchdog was killed by signal {-process.returncode}")


def watch(groups: JobGroups, owner: int) -> int:
    """Wait until standard input closes or the owner ends, then release all groups.

    Parameters
    ----------
    groups
        The owner's groups.
    owner
        The owner's process id.

    Returns
    -------
    int
        The exit status: 0 if all groups are released, 1 if not, 2 if it could not start.
    """
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    try:
        lock = _locked(groups)
        ends = _ends(owner)
    except (GroupError, OSError) as error:
        _report(str(error))
        return 2
    _report("up")
    _wait(ends)
    wrong = _release(groups)
    os.close(lock)
    if wrong:
        _report(wrong)
    return 1 if wrong else 0


def _locked(groups: JobGroups) -> int:
    """Lock the owner's group, which is created if necessary."""
    for _ in range(TRIES):
        Files().make(groups.base)
        try:
            lock = os.open(groups.base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # a predecessor's watchdog has just removed it
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The locked folder may have been removed and created again by another process.
            if groups.base.stat().st_ino == os.fstat(lock).st_ino:
                return lock
        except (BlockingIOError, FileNotFoundError):
            time.sleep(0.02)
        os.close(lock)
    raise GroupError(f"{groups.base}: another driver has this group, expected one driver per name")


def _ends(owner: int) -> list[int]:
    """Return the file descriptors that become readable when the owner ends: its pipe, and its pidfd if supported."""
    ends = [sys.stdin.fileno()]
    with suppress(ProcessLookupError):  # it has ended, and so has the pipe
        ends.append(os.pidfd_open(owner))
    return ends


def _wait(ends: list[int]) -> None:
    """Wait until the pipe closes or the process ends; data in the pipe is discarded."""
    pipe = ends[0]
    while True:
        ready, _, _ = select.select(ends, [], [])
        if any(end != pipe for end in ready) or not os.read(pipe, 4096):
            return


def _release(groups: JobGroups) -> str:
    """Release all groups, with retries; return the remaining errors."""
    wrong = ""
    for _ in range(RELEASES):
        try:
            groups.release_all()
            return ""
        except GroupError as error:
            wrong = str(error)
    return wrong


def _report(text: str) -> None:
    """Write a line to the owner, which may have ended."""
    with suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), f"{text}\n".encode())


def main(arguments: list[str]) -> int:
    """Run as ``python -m windlass.engines.linux.watchdog KIND ROOT NAME OWNER``."""
    kind, root, name, owner = arguments
    return watch(open_groups(kind, Path(root), name), int(owner))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
