"""The lock of a file that only one process at a time may write."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def lock_for_writing(path: Path) -> int:
    """Lock a file for one writer, until the returned descriptor is closed or the process ends.

    The lock is in a file of its own, ``<path>.lock``, since SQLite locks a database itself. Only its owner may open it:
    a user that may read a file may lock it. The file stays, as another process may have just opened it.

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
    handle = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise BlockingIOError(error.errno, error.strerror) from error
    return handle
