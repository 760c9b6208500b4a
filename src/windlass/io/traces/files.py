"""Reading and writing of plain or gzip-compressed files; every failure raises an InputError."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from windlass.io import files
from windlass.model import InputError
from windlass.model.limits import TEXT

#: Size of the chunks in which files are decompressed, bytes: a small file can expand to more than the memory.
_CHUNK = 2**22


def read_text(path: Path) -> str:
    """Read the text of a file, decompressed if its name ends in ``.gz``.

    Text is UTF-8, with or without a byte order mark. A file that is not UTF-8 is read as ISO 8859-1, in which every
    byte is a character: logs of the 1990s contain users' names in that encoding.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    str
        Its text, with unchanged line ends.

    Raises
    ------
    InputError
        The file cannot be read, is empty, has NUL bytes, is compressed although its name does not end in ``.gz`` (or
        the reverse), or is larger than :data:`~windlass.model.limits.TEXT` allows.
    """
    data = _unpacked(path)
    if not data or data.isspace():
        raise InputError(f"{path}: the file is empty, expected a header and jobs")
    if data.startswith(b"\x1f\x8b"):
        raise InputError(f"{path}: the file is gzip-compressed, expected a name that ends in .gz")
    nul = data.find(b"\x00")
    if nul >= 0:
        line = data.count(b"\n", 0, nul) + 1
        raise InputError(f"{path}, line {line}: a NUL byte, expected a text file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def read_head(path: Path, size: int) -> str:
    """Read the beginning of a file, decompressed if its name ends in ``.gz``; empty if it is unreadable or not text.

    Parameters
    ----------
    path
        The file.
    size
        Maximum number of bytes to read.

    Raises
    ------
    InputError
        There is no such file, or it is not a regular file.
    """
    check_is_file(path)
    try:
        with gzip.open(path) if is_packed(path) else path.open("rb") as file:
            data = file.read(size)
    except (OSError, EOFError, zlib.error):
        return ""  # the full read reports the error
    return "" if b"\x00" in data else data.decode("utf-8-sig", "replace")


def write_text(text: str, path: Path) -> None:
    """Write UTF-8 text, compressed if the name ends in ``.gz``; equal texts give equal files.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    write_bytes(text.encode("utf-8"), path)


def write_bytes(data: bytes, path: Path) -> None:
    """Write bytes, compressed if the name ends in ``.gz``; equal bytes give equal files.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    # With a time stamp of 0, the compressed bytes do not depend on the time of writing.
    packed = gzip.compress(data, compresslevel=6, mtime=0) if is_packed(path) else data
    files.write_bytes(packed, path)


def is_packed(path: Path) -> bool:
    """Return whether the name has a gzip suffix."""
    return path.name.lower().endswith(".gz")


def stem(path: Path) -> str:
    """Return the file's name without its suffixes (``.gz`` and the one before it).

    >>> stem(Path("logs/KTH-SP2-1996-2.1-cln.swf.gz"))
    'KTH-SP2-1996-2.1-cln'
    """
    return Path(path.stem).stem if is_packed(path) else path.stem


def check_is_file(path: Path) -> None:
    """Check that a path is an existing regular file.

    Raises
    ------
    InputError
        There is no such file, its name is not valid, or it is a directory or a device.
    """
    try:
        path.stat()
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the file cannot be read: {_reason(error)}") from error
    if path.is_dir():
        raise InputError(f"{path}: is a directory, expected a file")
    if not path.is_file():
        raise InputError(f"{path}: is not a regular file, expected a file")


def _unpacked(path: Path) -> bytearray:
    check_is_file(path)
    data = bytearray()
    try:
        with gzip.open(path) if is_packed(path) else path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                data += chunk
                TEXT.check(len(data), str(path), at_least=True)
                if b"\x00" in chunk:
                    break  # not a text file, whatever follows
        return data
    except InputError:
        raise
    except gzip.BadGzipFile as error:
        raise InputError(
            f"{path}: is not a gzip file or is damaged, expected one because of its name"
        ) from error
    except EOFError as error:
        raise InputError(f"{path}: the gzip file is truncated, expected more bytes") from error
    except zlib.error as error:
        raise InputError(f"{path}: the gzip file is damaged: {error}") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the file cannot be read: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
