"""Atomic writing of one file: to a temporary file in the same folder, synced, and renamed."""

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
    """Replace a file with these bytes and sync them to disk; until then the old file stays.

    Symbolic links are followed. An existing file keeps its permissions.

    Parameters
    ----------
    data
        All of the file.
    path
        Where; its folder is there.

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
        # Devices and pipes, such as /dev/stdout, are written to and never replaced.
        if place.exists() and not place.is_file():
            place.write_bytes(data)
            return
        _replace(place, data)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the file cannot be written: {reason(error)}") from error


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A new file for a library to write, which takes a file's place at the end; until then what was there stays.

    Parameters
    ----------
    path
        Where it is to be; its folder is there. The new file's name ends as this one does, since libraries go by that.

    Raises
    ------
    InputError
        It cannot be written; names file and reason.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replaced(Path(folder) / "a.csv") as fresh:
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
    """A table as the bytes of a Parquet file.

    The caller writes the bytes with a system call, whose errors name their cause. Compiled writers have errors of their
    own or none.

    Parameters
    ----------
    table
        Any.

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
    # Until it has a name, the kernel removes the file when the process ends.
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(file.fileno(), _mode(place))
        os.fsync(file.fileno())
        fresh = place.with_name(f".{place.name[:80]}.{secrets.token_hex(8)}.new")
        # Without src_dir_fd, os.link does not follow the link in /proc.
        os.link(f"/proc/self/fd/{file.fileno()}", fresh, src_dir_fd=file.fileno())
    try:
        os.replace(fresh, place)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    sync_folder(place.parent)


def _nameless(folder: Path) -> int | None:
    """A new file without a name; None where there are none: it takes Linux, and not every file system has them."""
    kind: int | None = getattr(os, "O_TMPFILE", None)
    if kind is None or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, kind | os.O_WRONLY, 0o600)
    except OSError:
        return None


def _mode(place: Path) -> int:
    """Return the permissions for a file that is written to a place."""
    return place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask()


@contextmanager
def _fresh(place: Path) -> Iterator[Path]:
    """A temporary file in the same folder, which is renamed to the place once it is on the disk."""
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
    """Have the names in a folder on the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_file(option: str, path: Path, inputs: Iterable[Path] = (), begins: bytes | None = None) -> None:
    """Check before the work that a result can be written to a file and replaces nothing else.

    Parameters
    ----------
    option
        How the user named the file, for the message.
    path
        The file.
    inputs
        Files that are read; none of them is ever written over.
    begins
        First bytes of Windlass's own files. An existing file that begins otherwise is never overwritten.

    Raises
    ------
    InputError
        Its folder is not there or cannot be written, it is a folder, an input, or not ours.

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
            raise InputError(f"{option}: {path} is what is read, expected another file")
    if path.is_file() and begins is not None:
        with open(path, "rb") as file:
            start = file.read(len(begins))
        if start and start.lower() != begins.lower():
            raise InputError(
                f"{option}: {path} is there already and was not written by Windlass, expected a new file"
            )
    place = Path(os.path.realpath(path))
    if not os.access(place if place.exists() and not place.is_file() else place.parent, os.W_OK):
        raise InputError(f"{option}: {place.parent} cannot be written")


def reason(error: OSError | ValueError) -> str:
    """Why the system refused, in its words."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _umask() -> int:
    # The only way to read the umask is to set it.
    umask = os.umask(0o077)
    os.umask(umask)
    return umask
