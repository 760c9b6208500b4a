"""One driver a cluster: a lock that the machine lets go when its holder dies, however it does."""

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
    """Held from when it is made until it is closed or the process ends.

    It holds among drivers on this host; that nobody drives the same cluster from another one is for the site to see to.

    Parameters
    ----------
    cluster
        What names the cluster: its name, and where its controller listens.
    folder
        Where the lock's file lies; None for the machine's own place for locks.

    Raises
    ------
    InputError
        Another driver has it; with its process.

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
            raise InputError(f"{self.path}: {error.strerror}; expected a lock's file of your own") from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            who = os.pread(self._handle, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._handle)
            raise InputError(f"another driver (process {who}) drives this cluster: {cluster}") from error
        # Who holds it is for those who ask in vain: the lock holds without, on a disk that is full.
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, f"{os.getpid()}\n".encode("ascii"), 0)

    def close(self) -> None:
        """Let others drive; more than once does no harm."""
        # The file stays: whoever removed it could take it from one who has just opened it.
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
