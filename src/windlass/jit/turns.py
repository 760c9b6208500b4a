"""Processes that need the same function take turns: one compiles it, and the others load it from the cache.

A lock file next to the function's cache file exists while the function is compiled. A process that ends for any reason
releases its lock. No process depends on it: where files cannot be locked, or a lock is held for too long, the function
is compiled again.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

#: A process that has waited for this long compiles the function itself, s. The largest takes some ten seconds.
PATIENCE_S = 120.0
_POLL_S = 0.02


@contextlib.contextmanager
def compiling(path: Path, *, wait: bool) -> Iterator[bool]:
    """Hold the lock of a cache file while its function is compiled.

    Parameters
    ----------
    path
        The cache file.
    wait
        Whether to wait while another process holds the lock: until it releases it, or the cache file exists.

    Yields
    ------
    bool
        Whether the caller is to compile or load the function now. Always true after waiting.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "f.compiled")
    ...     with compiling(path, wait=False) as first, compiling(path, wait=False) as second:
    ...         print(first, second)
    True False
    """
    lock = path.with_suffix(".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        yield True
        return
    try:
        is_held = _locked(handle)
        ends = time.monotonic() + PATIENCE_S
        while wait and is_held is False and not path.exists() and time.monotonic() < ends:
            time.sleep(_POLL_S)
            is_held = _locked(handle)
        try:
            yield wait or is_held is not False
        finally:
            if is_held:
                # Removed, it leaves nothing behind. In a folder such as /tmp, other users' files cannot be removed.
                with contextlib.suppress(OSError):
                    lock.unlink(missing_ok=True)
                # A process forked meanwhile has the file open, too.
                fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool | None:
    """Lock an open file; returns False if another process has locked it, and None if it cannot be locked."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
