"""Decompression of logs, by their first bytes: gzip, bzip2, xz, zstd and zip. The name of the file does not matter."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import polars as pl

from windlass.model import InputError
from windlass.model.limits import TEXT

#: First bytes of each kind of compressed file.
_MAGIC = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
)
#: Suffixes of compressed files.
SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zip")
#: The modules that decompress zstd, the first of which is in the standard library from Python 3.14.
_ZSTD = ("compression.zstd", "zstandard", "backports.zstd")


def compression_of(data: bytes) -> str | None:
    """Return the kind of compression of a file that begins with these bytes; None if it is not compressed.

    >>> compression_of(b"\\x1f\\x8b\\x08"), compression_of(b"submit,run")
    ('gzip', None)
    """
    return next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)


def is_parquet(path: Path) -> bool:
    """Return whether a file begins like a Parquet file; False if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return False


@contextmanager
def open_decompressed(path: Path) -> Iterator[IO[bytes]]:
    """Open a file and decompress what is read from it; a file that is not compressed is read unchanged.

    Raises
    ------
    InputError
        The file is damaged or truncated, or is an archive of several files.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "log.txt"
    >>> _ = path.write_bytes(gzip.compress(b"a log"))
    >>> with open_decompressed(path) as file:
    ...     file.read()
    b'a log'
    """
    with path.open("rb") as raw:
        kind = compression_of(raw.read(8))
        raw.seek(0)
        try:
            with _opened(kind, raw, path) as file:
                yield file
        except EOFError as error:
            raise InputError(f"{path}: the {kind} file is truncated, expected more bytes") from error
        except _FAULTS as error:
            raise InputError(f"{path}: the {kind} file is damaged: {_first_line(error)}") from error
        except Exception as error:
            # The modules for zstd have error classes of their own, and are imported only if needed.
            if type(error).__name__ != "ZstdError":
                raise
            raise InputError(f"{path}: the {kind} file is damaged: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "no reason given")


_FAULTS = (
    gzip.BadGzipFile,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    NotImplementedError,
    pl.exceptions.PolarsError,
)


def _opened(kind: str | None, raw: IO[bytes], path: Path) -> Any:
    match kind:
        case "gzip":
            return gzip.GzipFile(fileobj=raw)
        case "bzip2":
            return _Bzip2(raw)
        case "xz":
            return lzma.LZMAFile(raw)
        case "zstd":
            return _zstd(raw, path)
        case "zip":
            return _member(raw, path)
    return raw


class _Bzip2(bz2.BZ2File):
    """A bzip2 file; a damaged one raises the error of the other kinds, not an OSError."""

    def read(self, size: int | None = -1) -> bytes:
        try:
            return super().read(-1 if size is None else size)
        except OSError as error:
            raise zlib.error(str(error)) from error


def _zstd(raw: IO[bytes], path: Path) -> IO[bytes]:
    """Return the decompressed file; without a module for zstd, Polars decompresses the lines of a UTF-8 text."""
    for name in _ZSTD:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if name == "zstandard":
            return module.ZstdDecompressor().stream_reader(raw)  # type: ignore[no-any-return]
        return module.ZstdFile(raw)  # type: ignore[no-any-return]
    TEXT.check(path.stat().st_size, str(path))
    try:
        lines = pl.read_lines(raw)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            f"{path}: the zstd file is damaged or no UTF-8 text: {_first_line(error)}; "
            "decompress it with zstd -d first"
        ) from error
    return io.BytesIO("\n".join([*lines["line"], ""]).encode("utf-8"))


def _member(raw: IO[bytes], path: Path) -> IO[bytes]:
    """Return the only file of an archive."""
    archive = zipfile.ZipFile(raw)
    names = [each.filename for each in archive.infolist() if not each.is_dir()]
    if "[Content_Types].xml" in names:
        raise InputError(
            f"{path}: is a spreadsheet or document of Office, expected text; save it as CSV first"
        )
    names = [name for name in names if not name.startswith("__MACOSX/")]
    if len(names) != 1:
        found = ", ".join(names[:5]) + (", …" if len(names) > 5 else "") or "none"
        raise InputError(
            f"{path}: the archive has {len(names)} files ({found}), expected one; extract the log first"
        )
    try:
        return archive.open(names[0])
    except RuntimeError as error:  # encrypted
        raise InputError(f"{path}: {names[0]} cannot be extracted: {error}") from error
