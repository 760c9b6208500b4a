"""Atomic writing of one file: to a temporary file in the same folder, which is synced and renamed."""

from __future__ import annotations

import io
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from windlass.model import InputError

if TYPE_CHECKING:
    import polars as pl


def write_text(text: str, path: Path) -> None:
    """Write UTF-8 text, as :func:`write_bytes` does."""
    write_bytes(text.encode("utf-8"), path)


def write_bytes(data: bytes, path: Path) -> None:
    """Replace a file with these bytes, once they are on the disk; until then the old file stays.

    Symbolic links are followed. An existing file keeps its permissions.

    Parameters
    ----------
    data
        The whole content of the file.
    path
        The file; its folder must exist.

    Raises
    ------
    InputError
        It cannot be written; names file and reason.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bytes(b"all", Path(folder) / "file")
    ...     sorted(each.name for each in Path(folder).iterdir())
    ['file']
    """
    try:
        place = Path(os.path.realpath(path))
        # Devices and pipes, such as /dev/stdout, are written to, not replaced.
        if place.exists() and not place.is_file():
            place.write_bytes(data)
            return
        _replace(place, data)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the file cannot be written: {reason(error)}") from error


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield a temporary file for a library to write, which replaces a file at the end; until then the old one stays.

    Parameters
    ----------
    path
        The file to replace; its folder must exist. The temporary file has the same suffix, from which libraries detect
        the format.

    Raises
    ------
    InputError
        It cannot be written; names file and reason.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replace_file(Path(folder) / "a.csv") as fresh:
    ...         _ = fresh.write_text("all")
    ...     fresh.suffix, [each.name for each in Path(folder).iterdir()]
    ('.csv', ['a.csv'])
    """
    try:
        with _fresh(Path(os.path.realpath(path))) as fresh:
            yield fresh
    except OSError as error:
        raise InputError(f"{path}: the file cannot be written: {reason(error)}") from error


def parquet(table: pl.DataFrame) -> bytes:
    """Return a table as the content of a Parquet file.

    Callers write the bytes with :func:`write_bytes`, whose errors name the cause. The errors of compiled writers do not
    always do so.

    Parameters
    ----------
    table
        Any table.

    Examples
    --------
    >>> import polars as pl
    >>> parquet(pl.DataFrame({"a": [1]}))[:4]
    b'PAR1'
    """
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()


def _replace(place: Path, data: bytes) -> None:
    handle = _nameless(place.parent)
    if handle is None:
        with _fresh(place) as fresh:
            fresh.write_bytes(data)
        return
    # The kernel removes the file if the process ends before the file has a name.
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(file.fileno(), _mode(place))
        os.fsync(file.fileno())
        fresh = place.with_name(f".{place.name[:80]}.{secrets.token_hex(8)}.new")
        # os.link follows the symbolic link in /proc only if it is given a descriptor.
        os.link(f"/proc/self/fd/{file.fileno()}", fresh, src_dir_fd=file.fileno())
    try:
        os.replace(fresh, place)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    sync_folder(place.parent)


def _nameless(folder: Path) -> int | None:
    """Open a new file without a name; None if the system or the file system does not support such files."""
    kind: int | None = getattr(os, "O_TMPFILE", None)
    if kind is None or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, kind | os.O_WRONLY, 0o600)
    except OSError:
        return None


def _mode(place: Path) -> int:
    """Return the permissions for a file to write: those of the existing file, or the default ones."""
    return place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask()


@contextmanager
def _fresh(place: Path) -> Iterator[Path]:
    """Yield a temporary file in the same folder, which is renamed to ``place`` once it is on the disk."""
    ending = f".new{place.suffix[:80]}"
    handle, name = tempfile.mkstemp(prefix=f".{place.name[:80]}.", suffix=ending, dir=place.parent)
    os.close(handle)
    fresh = Path(name)
    try:
        yield fresh
        handle = os.open(fresh, os.O_RDONLY)
        try:
            os.fchmod(handle, _mode(place))
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(fresh, place)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    sync_folder(place.parent)


def sync_folder(folder: Path) -> None:
    """Sync the entries of a folder to the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_file(option: str, path: Path, inputs: Iterable[Path] = (), begins: bytes | None = None) -> None:
    """Check in advance that a result can be written to a file without replacing anything else.

    Parameters
    ----------
    option
        The option that names the file, for the message.
    path
        The file.
    inputs
        Input files, none of which is ever overwritten.
    begins
        First bytes of Windlass's own files, in any case. An existing file with another beginning is never overwritten,
        unless it is empty.

    Raises
    ------
    InputError
        The folder does not exist or cannot be written to, or the path is a folder, an input, or a file that Windlass
        did not write.

    Examples
    --------
    >>> check_file("--report", Path("no/such/folder/r.html"))
    Traceback (most recent call last):
    windlass.model.errors.InputError: --report: the folder no/such/folder does not exist
    """
    if path.is_dir():
        raise InputError(f"{option}: {path} is a folder, expected a file")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{option}: the folder {path.parent} does not exist")
    for each in inputs:
        if each.exists() and path.exists() and each.samefile(path):
            raise InputError(f"{option}: {path} is an input, expected another file")
    if path.is_file() and begins is not None:
        with open(path, "rb") as file:
            start = file.read(len(begins))
        if start and start.lower() != begins.lower():
            raise InputError(f"{option}: {path} exists and was not written by Windlass, expected a new file")
    place = Path(os.path.realpath(path))
    if not os.access(place if place.exists() and not place.is_file() else place.parent, os.W_OK):
        raise InputError(f"{option}: {place.parent} cannot be written")


def reason(error: OSError | ValueError) -> str:
    """Return the system's own text for an error."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _umask() -> int:
    # The only way to read the umask is to set it.
    umask = os.umask(0o077)
    os.umask(umask)
    return umask
