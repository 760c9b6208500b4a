"""Reading and writing of plain or compressed files; every failure raises an InputError."""

from __future__ import annotations

import gzip
from pathlib import Path

from windlass.io import files
from windlass.io.traces.compression import SUFFIXES, open_decompressed
from windlass.io.traces.other_kinds import other_kind
from windlass.model import InputError
from windlass.model.limits import TEXT

#: Size of the chunks in which files are decompressed, bytes: a small file can expand to more than the memory.
_CHUNK = 2**22
#: Number of bytes that identify a file that is no log.
_KIND = 512


def read_text(path: Path) -> str:
    """Return the text of a file, decompressed if its first bytes are those of gzip, bzip2, xz, zstd or zip.

    Text is UTF-8, with or without a byte order mark, or UTF-16 or UTF-32 with one. A file that is none of these is read
    as Windows-1252 or, if it has bytes that are not in it, ISO 8859-1, in which every byte is a character: many logs
    contain users' names in these encodings.

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
        The file cannot be read, is empty, is no text, has NUL bytes, is damaged, or is larger than
        :data:`~windlass.model.limits.TEXT` allows.
    """
    data = _unpacked(path)
    if not data or data.isspace():
        raise InputError(f"{path}: the file is empty, expected a header and rows")
    _check_kind(path, data)
    encoding = _wide_encoding(data)
    if encoding is not None:
        return _decoded(path, data, encoding)
    nul = data.find(b"\x00")
    if nul >= 0:
        line = data.count(b"\n", 0, nul) + 1
        raise InputError(f"{path}, line {line}: a NUL byte, expected a text file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _of_one_byte(data)


def check_kind(path: Path) -> None:
    """Check that a file does not begin as an archive, a database, a document or a web page does.

    Raises
    ------
    InputError
        It does, or it cannot be decompressed.
    """
    try:
        with open_decompressed(path) as file:
            _check_kind(path, file.read(_KIND))
    except OSError:
        return  # the full read reports the error


def _check_kind(path: Path, data: bytes | bytearray) -> None:
    found = other_kind(bytes(data[:_KIND]))
    if found is not None:
        raise InputError(f"{path}: {found}")


def _of_one_byte(data: bytearray) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def read_head(path: Path, size: int) -> str:
    """Read the beginning of a file as :func:`read_text` does; empty if it is unreadable or not text.

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
        with open_decompressed(path) as file:
            data = file.read(size)
    except (OSError, InputError):
        return ""  # the full read reports the error
    encoding = _wide_encoding(data)
    if encoding is not None:
        return data.decode(encoding, "ignore")
    return "" if b"\x00" in data else data.decode("utf-8-sig", "replace")


def _wide_encoding(data: bytes | bytearray) -> str | None:
    """Return UTF-32 or UTF-16 by the byte order mark, or UTF-16 by the NUL bytes of its ASCII characters; else None."""
    if data.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return "utf-32"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    head = bytes(data[:64])
    for encoding, ascii_, high in (("utf-16-le", 0, 1), ("utf-16-be", 1, 0)):
        if len(head) >= 8 and not any(head[high::2]) and all(head[ascii_::2]):
            return encoding
    return None


def _decoded(path: Path, data: bytes | bytearray, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, "ignore")
        line = before.count("\n") + 1
        raise InputError(
            f"{path}, line {line}: cannot be decoded as {encoding.upper()}, expected text; the file may be cut short"
        ) from error
    if "\x00" in text:
        line = text[: text.index("\x00")].count("\n") + 1
        raise InputError(f"{path}, line {line}: a NUL character, expected a text file")
    if text.isspace() or not text:
        raise InputError(f"{path}: the file is empty, expected a header and rows")
    return text


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
    """Return the file's name without its suffixes (that of the compression, and the one before it).

    >>> stem(Path("logs/KTH-SP2-1996-2.1-cln.swf.gz"))
    'KTH-SP2-1996-2.1-cln'
    """
    return Path(uncompressed_name(path)).stem


def uncompressed_name(path: Path) -> str:
    """Return the file's name without the suffix of its compression.

    >>> uncompressed_name(Path("logs/jobs.csv.zst"))
    'jobs.csv'
    """
    packed = path.suffix.lower() in SUFFIXES and path.stem != ""
    return path.stem if packed else path.name


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
        with open_decompressed(path) as file:
            while chunk := file.read(_CHUNK):
                data += chunk
                TEXT.check(len(data), str(path), at_least=True)
                if b"\x00" in chunk and _wide_encoding(data) is None:
                    break  # not a text file, whatever follows
        return data
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the file cannot be read: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
