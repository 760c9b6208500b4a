"""The lock of a file that only one process at a time may write."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path


def lock_for_writing(path: Path) -> int:
    """Lock a file for one writer, until the returned descriptor is closed or the process ends.

    The lock is in a file of its own, ``<path>.lock``, since SQLite locks a database itself. Only its owner may open it:
    a user that may read a file may lock it. Root leaves it to the owner of ``path``, as SQLite does with its files. The
    file stays, as another process may have just opened it.

    Parameters
    ----------
    path
        The file, which need not exist.

    Raises
    ------
    BlockingIOError
        Another writer has the lock.
    OSError
        The file of the lock cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "journal"
    >>> handle = lock_for_writing(file)
    >>> file.with_name("journal.lock").exists()
    True
    >>> os.close(handle)
    """
    handle = _opened(path.with_name(f"{path.name}.lock"), path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise BlockingIOError(error.errno, error.strerror) from error
    return handle


def _opened(lock: Path, path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    try:
        # A new file only: a link of this name may lead to a file of another user.
        handle = os.open(lock, flags | os.O_EXCL, 0o600)
    except FileExistsError:
        return os.open(lock, flags, 0o600)
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            owner = path.stat()
            os.fchown(handle, owner.st_uid, owner.st_gid)
    return handle
