"""Files in and out: plain or gzip-compressed text, and one error for all that can go wrong."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from windlass.io import files
from windlass.model import InputError
from windlass.model.limits import TEXT

#: Size of the pieces in which files are unpacked: a small one can unfold into more than memory.
_CHUNK = 2**22


def read_text(path: Path) -> str:
    """The text of a file, unpacked when its name ends in ``.gz``.

    Text is UTF-8, with or without a byte order mark. Logs of the 1990s carry people's names in
    ISO 8859-1, so a file that is not UTF-8 is read as that, in which every byte is a character.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    str
        Its text, line ends as they are.

    Raises
    ------
    InputError
        The file cannot be read, is empty, holds NUL bytes, is not the gzip file its name says it is, or holds more than
        :data:`~windlass.model.limits.TEXT` allows.
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


def read_head(path: Path, characters: int) -> str:
    """The beginning of a file, unpacked when its name ends in ``.gz``; empty where it cannot be read or is no text.

    Parameters
    ----------
    path
        The file.
    characters
        How many at most.

    Raises
    ------
    InputError
        There is no such file, or it is a directory.
    """
    check_is_file(path)
    try:
        with gzip.open(path) if is_packed(path) else path.open("rb") as file:
            data = file.read(characters)
    except (OSError, EOFError, zlib.error):
        return ""  # the full read reports the error
    return "" if b"\x00" in data else data.decode("utf-8-sig", "replace")


def write_text(text: str, path: Path) -> None:
    """Write UTF-8 text, packed when the name ends in ``.gz``; the same text gives the same bytes.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    write_bytes(text.encode("utf-8"), path)


def write_bytes(data: bytes, path: Path) -> None:
    """Write bytes, packed when the name ends in ``.gz``; the same bytes give the same file.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    # A time stamp of 0 keeps the wall clock out of the packed bytes.
    packed = gzip.compress(data, compresslevel=6, mtime=0) if is_packed(path) else data
    files.write_bytes(packed, path)


def is_packed(path: Path) -> bool:
    """Whether the name has a gzip suffix."""
    return path.name.lower().endswith(".gz")


def stem(path: Path) -> str:
    """The file's name without its suffix.

    >>> stem(Path("logs/KTH-SP2-1996-2.1-cln.swf.gz"))
    'KTH-SP2-1996-2.1-cln'
    """
    return Path(path.stem).stem if is_packed(path) else path.stem


def check_is_file(path: Path) -> None:
    """Check that a path is a readable file.

    Raises
    ------
    InputError
        There is no such file, its name cannot be one, or it is a directory or a device.
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
        raise InputError(f"{path}: is no regular file, expected a file")


def _unpacked(path: Path) -> bytearray:
    check_is_file(path)
    data = bytearray()
    try:
        with gzip.open(path) if is_packed(path) else path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                data += chunk
                TEXT.check(len(data), str(path), at_least=True)
                if b"\x00" in chunk:
                    break  # no text, however much more there is
        return data
    except InputError:
        raise
    except gzip.BadGzipFile as error:
        raise InputError(f"{path}: is no gzip file or is damaged, expected one by its name") from error
    except EOFError as error:
        raise InputError(f"{path}: the gzip file is cut off, expected more bytes") from error
    except zlib.error as error:
        raise InputError(f"{path}: the gzip file is damaged: {error}") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the file cannot be read: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
