"""A lock that admits one driver per cluster; the kernel releases it when the driver's process ends.

Other users cannot take it, nor prevent a driver from taking it: the file has mode 0600, in a folder that only its owner
may write. A lock in a folder for all users, such as ``/run/lock``, could be taken by each of them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from windlass.model import InputError


class DriverLock:
    """A file lock, held until it is closed or the process ends.

    It works among drivers of one user on one host, and, where ``/run/windlass`` belongs to the user of the service,
    between it and root; the site must prevent drivers of other users and on other hosts.

    Parameters
    ----------
    system
        The batch system's name in the file's name, such as ``slurm``.
    cluster
        The identity of the cluster: its name, and the address of its controller.
    folder
        The folder of the lock file; None for the user's default.

    Raises
    ------
    InputError
        Another driver holds the lock; the message has its process id. Or the folder or the file may be changed by
        other users.

    Examples
    --------
    >>> with DriverLock("slurm", "here:1", Path(tempfile.mkdtemp())) as lock:
    ...     lock.path.name
    'windlass-slurm-here-1.lock'
    """

    def __init__(self, system: str, cluster: str, folder: Path | None = None) -> None:
        own = folder or _folder()
        self.path = own / f"windlass-{system}-{re.sub(r'[^A-Za-z0-9.]+', '-', cluster)}.lock"
        try:
            own.mkdir(mode=0o755, exist_ok=True)
            _check(own, os.lstat(own), stat.S_ISDIR, "folder")
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise InputError(
                f"{self.path}: {error.strerror}; expected a lock file that this user owns"
            ) from error
        try:
            _check(self.path, os.fstat(self._handle), stat.S_ISREG, "lock file")
            # A user that may read a file may lock it, and an earlier release made it readable.
            os.fchmod(self._handle, 0o600)
        except InputError:
            os.close(self._handle)
            raise
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
    """Return the default folder: that of the service, of root, or of this user's session; else a private one."""
    service, user = os.environ.get("RUNTIME_DIRECTORY", "").partition(":")[0], os.geteuid()
    if service:
        return Path(service)
    shared = Path("/run/windlass")
    if user == 0 or (shared.is_dir() and shared.lstat().st_uid == user):
        return shared
    session = os.environ.get("XDG_RUNTIME_DIR")
    return Path(session) / "windlass" if session else Path(tempfile.gettempdir()) / f"windlass-{user}"


def _check(path: Path, found: os.stat_result, kind: Callable[[int], bool], name: str) -> None:
    """Raise unless a file or folder is of the expected kind, and no other user may write it.

    Raises
    ------
    InputError
        The message names the file, and what was expected.
    """
    user = os.geteuid()
    # Root may lock a folder of the service's user.
    owned = found.st_uid == user or user == 0
    if not kind(found.st_mode) or not owned or found.st_mode & 0o022:
        raise InputError(
            f"{path}: owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):o}; expected a {name} that belongs to "
            f"user {user} and that no other user may write"
        )
