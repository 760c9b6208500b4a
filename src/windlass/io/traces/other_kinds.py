"""Files that are no logs: archives, databases, documents and web pages, which are named by their first bytes."""

from __future__ import annotations

_TAR = slice(257, 262)
#: First bytes, what a file that begins with them is, and how to get a log from it.
_KINDS = (
    (b"7z\xbc\xaf'\x1c", "a 7-Zip archive", "extract the log first"),
    (b"Rar!", "an RAR archive", "extract the log first"),
    (b"\x1f\x9d", "a file of compress (.Z)", "decompress it with uncompress first"),
    (b"\x04\x22\x4d\x18", "an LZ4 file", "decompress it with lz4 -d first"),
    (b"]\x00\x00", "a file of lzma", "decompress it with unlzma first"),
    (b"\x1f\x8b", "a gzip file, compressed twice", "decompress it once first"),
    (b"BZh", "a bzip2 file, compressed twice", "decompress it once first"),
    (b"\xfd7zXZ\x00", "an xz file, compressed twice", "decompress it once first"),
    (b"\x28\xb5\x2f\xfd", "a zstd file, compressed twice", "decompress it once first"),
    (b"PK\x03\x04", "a zip archive, compressed twice", "decompress it once first"),
    (b"PAR1", "a Parquet file, compressed as a whole", "decompress it first"),
    (b"SQLite format 3\x00", "a database of SQLite", "export the table of jobs as CSV first"),
    (b"ARROW1", "an Arrow or Feather file", "save the table as Parquet first"),
    (b"Obj\x01", "an Avro file", "save the table as Parquet first"),
    (b"\x89HDF\r\n", "an HDF5 file", "save the table as Parquet first"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet or document of Office", "save it as CSV first"),
    (b"%PDF-", "a PDF document", "export the table of jobs as CSV first"),
    (b"version https://git-lfs", "a pointer of Git LFS", "fetch the log with git lfs pull first"),
)
_WEB_PAGES = (b"<!doctype html", b"<html")


def other_kind(data: bytes) -> str | None:
    """Return what a decompressed file is, and what to do, if its first bytes are those of no log; else None.

    Parameters
    ----------
    data
        The first 300 bytes of the file, or more.

    Examples
    --------
    >>> other_kind(b"%PDF-1.7")
    'is a PDF document, expected a log; export the table of jobs as CSV first'
    >>> other_kind(b"submit,run") is None
    True
    """
    head = bytes(data[:512])
    found = next(((name, advice) for magic, name, advice in _KINDS if head.startswith(magic)), None)
    if head[_TAR] == b"ustar":
        found = ("a tar archive", "extract the log first")
    elif head.lstrip().lower().startswith(_WEB_PAGES):
        found = ("a web page (HTML)", "download the log itself")
    return None if found is None else f"is {found[0]}, expected a log; {found[1]}"
