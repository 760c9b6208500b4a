"""Ends quotas with the one who set them: a small process that outlives its owner by as long as it takes to lift them.

A driver that dies leaves its limits behind, and jobs would be slow for ever. So before it limits anything it starts
this process, with a pipe as its standard input. When the pipe closes or the owner ends, however it ends, the watchdog
releases every group of the owner and ends too. It has a session of its own and ignores SIGTERM, SIGINT and SIGHUP, so
what ends the owner does not end it first.

It holds a lock on the owner's group. So there is one driver to a name, and a new one waits until the groups of its dead
predecessor are released, and does not lose its own to them.

Both ends are watched, as each has a hole: a child of the owner that was forked without exec holds the pipe open, and an
owner that goes on after the ``with`` has not ended.
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
from windlass.engines.linux.groups import JobGroups, opened

#: Tries, 20 ms apart, to have the lock: a predecessor's watchdog may be about to release its groups.
TRIES = 150
#: Tries to release a group that cannot be removed yet.
RELEASES = 3


@contextmanager
def watched(groups: JobGroups) -> Iterator[subprocess.Popen[str]]:
    """While this lasts, the owner's groups are released when this process ends; and when it is left, too.

    Parameters
    ----------
    groups
        The owner's. Limit nothing before this context has begun.

    Yields
    ------
    subprocess.Popen
        The watchdog, which is up. Where its ``poll()`` is no longer None somebody killed it: lift what you limited.

    Raises
    ------
    GroupError
        It did not come up: another driver has this name, or groups cannot be used. On leaving: some group could not
        be released.
    """
    if (why := groups.available()) is not None:
        raise GroupError(why)
    package = Path(__file__).parents[3]
    # -P: nothing is imported from the folder in which root happens to be.
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
        said = process.stdout.readline().strip()
        if said != "up":
            raise GroupError(said or f"{groups.base}: the watchdog ended before it was up")
        yield process
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        left = process.stdout.read().strip()
        process.stdout.close()
        process.wait()
    if left or process.returncode:
        raise GroupError(left or f"{groups.base}: the watchdog was ended by signal {-process.returncode}")


def watch(groups: JobGroups, owner: int) -> int:
    """Wait until standard input closes or the owner ends, then release all groups.

    Parameters
    ----------
    groups
        The owner's.
    owner
        Its process.

    Returns
    -------
    int
        The exit status: 0 if all is released, 1 if not, 2 if it could not begin.
    """
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    try:
        lock = _locked(groups)
        ends = _ends(owner)
    except (GroupError, OSError) as error:
        _say(str(error))
        return 2
    _say("up")
    _wait(ends)
    wrong = _release(groups)
    os.close(lock)
    if wrong:
        _say(wrong)
    return 1 if wrong else 0


def _locked(groups: JobGroups) -> int:
    """The lock on the owner's group, which is made if need be."""
    for _ in range(TRIES):
        Files().make(groups.base)
        try:
            lock = os.open(groups.base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # a predecessor's watchdog has just removed it
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The lock may be on a folder that was removed, and made again by us or by another.
            if groups.base.stat().st_ino == os.fstat(lock).st_ino:
                return lock
        except (BlockingIOError, FileNotFoundError):
            time.sleep(0.02)
        os.close(lock)
    raise GroupError(f"{groups.base}: another driver has this group, expected one driver to a name")


def _ends(owner: int) -> list[int]:
    """What becomes readable when the owner is gone: its pipe, and the process itself where the kernel offers that."""
    ends = [sys.stdin.fileno()]
    with suppress(ProcessLookupError):  # it has ended, and so has the pipe
        ends.append(os.pidfd_open(owner))
    return ends


def _wait(ends: list[int]) -> None:
    """Until the pipe closes or the process ends; what is written into the pipe is thrown away."""
    pipe = ends[0]
    while True:
        ready, _, _ = select.select(ends, [], [])
        if any(end != pipe for end in ready) or not os.read(pipe, 4096):
            return


def _release(groups: JobGroups) -> str:
    """Release all groups, more than once where that fails; what is wrong still."""
    wrong = ""
    for _ in range(RELEASES):
        try:
            groups.release_all()
            return ""
        except GroupError as error:
            wrong = str(error)
    return wrong


def _say(text: str) -> None:
    """Tell the owner, who may be gone."""
    with suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), f"{text}\n".encode())


def main(arguments: list[str]) -> int:
    """Run as ``python -m windlass.engines.linux.watchdog KIND ROOT NAME OWNER``."""
    kind, root, name, owner = arguments
    return watch(opened(kind, Path(root), name), int(owner))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
