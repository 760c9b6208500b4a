"""A folder of results: claimed by one command, written to a temporary folder, and replaced as a whole."""

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
    """The exclusive right to write a folder, for as long as the context of :func:`claim_folder` lasts.

    Parameters
    ----------
    place
        Path of the folder.
    option
        The option that names the folder, for messages.
    """

    place: Path
    option: str

    @property
    def partial(self) -> Path:
        """Folder of the results so far, until all are complete."""
        return self.place.with_name(f".{self.place.name}.partial")

    def fill(self, write: Callable[[Path], None]) -> None:
        """Replace the folder at once with what ``write`` writes, and remove :attr:`partial`.

        Parameters
        ----------
        write
            Called with an empty temporary folder next to ``place``.

        Raises
        ------
        InputError
            The folder cannot be written; its previous content is unchanged.
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
            # After an exchange this is the old folder; after an error, the incomplete new one.
            _remove(fresh)
        _remove(self.partial)


@contextmanager
def claim_folder(place: Path, option: str, ours: frozenset[str], *, replace: bool = False) -> Iterator[Claim]:
    """Claim a folder to fill with results.

    Parameters
    ----------
    place
        The folder, which may exist if it is empty.
    option
        The name of the parameter or the option that names the folder, for messages.
    ours
        Names of the files and folders of results. A folder with any other entry is never replaced.
    replace
        Whether existing results may be replaced.

    Raises
    ------
    InputError
        Another command is writing to the folder, it has entries that must not be replaced, or it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with claim_folder(Path(folder) / "out", "--out", frozenset({"a"})) as claim:
    ...         claim.fill(lambda fresh: (fresh / "a").touch())
    ...     [each.name for each in (Path(folder) / "out").iterdir()]
    ['a']
    """
    real = Path(os.path.realpath(place))
    if real in (Path.cwd(), real.parent):
        raise ParameterError(option, f"{place} is the current folder, expected a separate folder for results")
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
        # Removed while it is locked: a process that then locks the removed file notices it (see _locked).
        lock.unlink(missing_ok=True)
        os.close(handle)


def _check(real: Path, place: Path, option: str, ours: frozenset[str], replace: bool) -> None:
    if real.exists() and not real.is_dir():
        raise ParameterError(option, f"{place} is a file, expected a folder")
    there = sorted(each.name for each in real.iterdir()) if real.exists() else []
    for name in there:
        if name not in ours:
            raise ParameterError(
                option, f"{place} has {name!r}, which is not a result of Windlass; expected a new folder"
            )
    if there and not replace:
        raise ParameterError(option, f"{place} has results already", Remedy("force", "replaces them"))


def _locked(lock: Path) -> int:
    """Lock the lock file, until the returned descriptor is closed or the process ends."""
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The previous owner may have removed the locked file in the meantime.
            if lock.exists() and os.path.samestat(os.fstat(handle), lock.stat()):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _exchange(fresh: Path, place: Path) -> None:
    """Replace a folder atomically by the new one; afterwards ``fresh`` is the old folder, if there was one."""
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
    # Some network file systems cannot exchange: after a kill between the two renames, only `old` exists.
    old = _old(place)
    os.rename(place, old)
    os.rename(fresh, place)
    _remove(old)


def _old(place: Path) -> Path:
    return place.with_name(f".{place.name}.old")


def _restore(place: Path) -> None:
    """Restore the old folder if a process was killed between the two renames of _exchange."""
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
