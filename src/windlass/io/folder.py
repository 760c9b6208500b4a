"""A folder of results: claimed by one command, written to a temporary folder, and exchanged as a whole."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from windlass.io.files import reason, sync_folder
from windlass.model.errors import ParameterError, Remedy

_AT_FDCWD, _EXCHANGE = -100, 2


@dataclass(frozen=True, slots=True)
class Claim:
    """A place that is ours to fill, for as long as :func:`claimed` lasts.

    Parameters
    ----------
    place
        Where the folder will be.
    option
        How the user named it, for messages.
    """

    place: Path
    option: str

    @property
    def partial(self) -> Path:
        """Where what is ready so far lies, until all is."""
        return self.place.with_name(f".{self.place.name}.partial")

    def fill(self, write: Callable[[Path], None]) -> None:
        """Have what ``write`` puts into a folder in the place, all at once; :attr:`partial` goes.

        Parameters
        ----------
        write
            Called with an empty temporary folder next to the place.

        Raises
        ------
        InputError
            It cannot be written; what was there before is there still.
        """
        fresh = self.place.with_name(f".{self.place.name}.new")
        try:
            _remove(fresh)
            fresh.mkdir()
            write(fresh)
            _sync(fresh)
            _exchange(fresh, self.place)
            sync_folder(self.place.parent)
        except (OSError, ValueError) as error:
            raise ParameterError(self.option, f"{self.place} cannot be written: {reason(error)}") from error
        finally:
            # What is left is the folder of before, or what could not be finished.
            _remove(fresh)
        _remove(self.partial)


@contextmanager
def claimed(place: Path, option: str, ours: frozenset[str], *, replace: bool = False) -> Iterator[Claim]:
    """Claim a folder to fill with results.

    Parameters
    ----------
    place
        The folder, which may be there and empty.
    option
        The name of the parameter or the option that names the folder, for messages.
    ours
        Names of files and folders that results have. A folder with anything else is never replaced.
    replace
        Whether results that are there may go.

    Raises
    ------
    InputError
        Another command writes there; something is there that must stay; or it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with claimed(Path(folder) / "out", "--out", frozenset({"a"})) as claim:
    ...         claim.fill(lambda fresh: (fresh / "a").touch())
    ...     [each.name for each in (Path(folder) / "out").iterdir()]
    ['a']
    """
    real = Path(os.path.realpath(place))
    if real in (Path.cwd(), real.parent):
        raise ParameterError(option, f"{place} is the current folder, expected a folder for results alone")
    lock = real.with_name(f".{real.name}.lock")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        handle = _locked(lock)
    except BlockingIOError as error:
        raise ParameterError(option, f"another command is writing to {place}") from error
    except (OSError, ValueError) as error:
        raise ParameterError(option, f"{place} cannot be written: {reason(error)}") from error
    try:
        _restore(real)
        _check(real, place, option, ours, replace)
        yield Claim(real, option)
    finally:
        # Removed while locked: a waiting process then finds that the name is another file.
        lock.unlink(missing_ok=True)
        os.close(handle)


def _check(real: Path, place: Path, option: str, ours: frozenset[str], replace: bool) -> None:
    if real.exists() and not real.is_dir():
        raise ParameterError(option, f"{place} is a file, expected a folder")
    there = sorted(each.name for each in real.iterdir()) if real.exists() else []
    for name in there:
        if name not in ours:
            raise ParameterError(
                option, f"{place} has {name!r}, which is no result of Windlass, expected a new folder"
            )
    if there and not replace:
        raise ParameterError(option, f"{place} has results already", Remedy("force", "replaces them"))


def _locked(lock: Path) -> int:
    """A handle of the lock file, which is held until the handle is closed or the process ends."""
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The file that was locked may be one that its owner has just removed.
            if lock.exists() and os.path.samestat(os.fstat(handle), lock.stat()):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _exchange(fresh: Path, place: Path) -> None:
    """Put a folder into its place; what was there is where it was made. There is no instant without one."""
    try:
        os.rename(fresh, place)
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(_AT_FDCWD, os.fsencode(fresh), _AT_FDCWD, os.fsencode(place), _EXCHANGE) == 0:
        return
    code = ctypes.get_errno()
    if code not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(code, os.strerror(code))
    # Some network file systems cannot exchange: after a kill between the two renames, `old` has the folder.
    old = _old(place)
    os.rename(place, old)
    os.rename(fresh, place)
    _remove(old)


def _old(place: Path) -> Path:
    return place.with_name(f".{place.name}.old")


def _restore(place: Path) -> None:
    """Restore the folder that a process killed between two renames had moved away."""
    old = _old(place)
    if old.exists() and not place.exists():
        os.rename(old, place)


def _sync(folder: Path) -> None:
    for root, _, files in os.walk(folder):
        for name in files:
            handle = os.open(Path(root) / name, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        sync_folder(Path(root))


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
