"""A lock that admits one driver per cluster; the kernel releases it when the driver's process ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
from pathlib import Path
from types import TracebackType

from windlass.model import InputError


class DriverLock:
    """A file lock, held until it is closed or the process ends.

    It works among drivers on one host; the site must prevent drivers on other hosts.

    Parameters
    ----------
    cluster
        The identity of the cluster: its name, and the address of its controller.
    folder
        The folder of the lock file; None for the machine's default.

    Raises
    ------
    InputError
        Another driver holds the lock; the message has its process id.

    Examples
    --------
    >>> with DriverLock("here:1", Path(tempfile.mkdtemp())) as lock:
    ...     lock.path.name
    'windlass-slurm-here-1.lock'
    """

    def __init__(self, cluster: str, folder: Path | None = None) -> None:
        own = folder or _folder()
        self.path = own / f"windlass-slurm-{re.sub(r'[^A-Za-z0-9.]+', '-', cluster)}.lock"
        try:
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise InputError(
                f"{self.path}: {error.strerror}; expected a lock file that this user owns"
            ) from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(self._handle, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._handle)
            raise InputError(f"another driver (process {holder}) drives this cluster: {cluster}") from error
        # The id only serves the error message, so a full disk, on which it cannot be written, is no failure.
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, f"{os.getpid()}\n".encode("ascii"), 0)

    def close(self) -> None:
        """Release the lock; a second call has no effect."""
        # The file is kept: removing it could break the lock of a process that has just opened it.
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1

    def __enter__(self) -> DriverLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _folder() -> Path:
    shared = Path("/run/lock")
    return shared if os.access(shared, os.W_OK) else Path(tempfile.gettempdir())
