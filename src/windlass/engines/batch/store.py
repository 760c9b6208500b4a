"""The SQLite file of a driver: lines of its journal, the actions that are open, and texts that it saves by name."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

#: Marks an SQLite file as the journal of a driver: "WLD1" in ASCII.
_APPLICATION = 0x574C4431
#: Version of the tables.
_VERSION = 1
#: Every write is on the disk before what it announces is carried out.
SYNCHRONOUS = "full"
#: Time until another connection must have finished its write, s.
_PATIENCE_S = 10.0

#: `entries` has the latest lines, `kept` what was open when the journal was last shortened, and `cut` the last entry
#: that `kept` includes. `crc` is the CRC-32 of a line, as SQLite itself notices damaged pages only in part.
_TABLES = f"""
create table entries (
    number integer primary key autoincrement, at real not null, line text not null, crc integer not null);
create table kept (position integer primary key, line text not null, crc integer not null);
create table cut (number integer not null);
insert into cut values (0);
create table texts (name text primary key, content text not null, crc integer not null) without rowid;
pragma application_id = {_APPLICATION};
pragma user_version = {_VERSION};
"""
#: What was open at the last shortening, and all lines since.
_KEPT = "select line, crc from kept order by position"
_LATEST = "select line, crc from entries where number > (select number from cut) order by number"


class NotAStoreError(Exception):
    """A file is no SQLite database, such as a journal in lines of JSON."""


class DamagedStoreError(Exception):
    """A file is an SQLite database that cannot be read as a driver's."""


def is_store(path: Path) -> bool:
    """Return whether a file is a journal in SQLite that can be read."""
    try:
        EntryStore(path, read_only=True).close()
    except (NotAStoreError, DamagedStoreError, OSError, sqlite3.Error):
        return False
    return True


@dataclass(frozen=True, slots=True)
class StoredLine:
    """A line of a journal, and its time, s."""

    at: float
    line: str


class EntryStore:
    """Lines and texts in an SQLite file.

    Parameters
    ----------
    path
        The file.
    read_only
        True to change nothing, also while a driver writes; the file must exist.

    Raises
    ------
    NotAStoreError
        The file is no SQLite database.
    DamagedStoreError
        The file is damaged, belongs to another program, or has a newer version.
    OSError, sqlite3.Error
        The file cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "journal"
    >>> store = EntryStore(file)
    >>> store.add([StoredLine(1.0, "a"), StoredLine(2.0, "b")])
    >>> store.shorten(["open"], most_bytes=1, oldest=0.0)
    >>> store.open_lines(), store.lines()
    (['open'], ['b'])
    >>> store.close()
    """

    def __init__(self, path: Path, read_only: bool = False) -> None:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not path.absolute().parent.is_dir() or (read_only and not path.exists()):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        self.path = path
        self._file = _reader(path) if read_only else _connected(path, "mode=rwc")
        try:
            with _checked():
                self._prepare(read_only)
                #: Bytes of the lines in the file, and the time of the first one, s.
                self.size, self.oldest = self._extent()
        except BaseException:
            self._file.close()
            raise

    def _prepare(self, read_only: bool) -> None:
        file = self._file
        file.execute(f"pragma synchronous = {SYNCHRONOUS}")
        if _number(file, "schema_version") == 0:
            if read_only:
                raise NotAStoreError("the file is empty")
            # One transaction, so that a killed process leaves an empty file or a journal.
            file.executescript(f"begin immediate; {_TABLES} commit;")
        if _number(file, "application_id") != _APPLICATION:
            raise DamagedStoreError("it belongs to another program")
        if (found := _number(file, "user_version")) > _VERSION:
            raise DamagedStoreError(f"it has version {found}, expected at most {_VERSION}")
        if not read_only:
            file.execute("pragma journal_mode = wal")
            # SQLite's own log has a page of 4 KiB for each write; it stays at about 1 MiB.
            file.execute("pragma wal_autocheckpoint = 256")
        (found_whole,) = file.execute("pragma quick_check(1)").fetchone()
        if found_whole != "ok":
            raise DamagedStoreError(" ".join(str(found_whole).split()))

    def _extent(self) -> tuple[int, float]:
        query = "select coalesce(sum(length(cast(line as blob))), 0), coalesce(min(at), 9e999) from entries"
        size, oldest = self._file.execute(query).fetchone()
        return int(size), float(oldest)

    def open_lines(self) -> list[str]:
        """Return the lines that rebuild what is open: those of the last shortening, and all since."""
        return [*self._lines(_KEPT), *self._lines(_LATEST)]

    def lines(self) -> list[str]:
        """Return all lines that the file still has, in order."""
        return self._lines("select line, crc from entries order by number")

    def _lines(self, query: str) -> list[str]:
        with _checked():
            return [_whole(line, crc) for line, crc in self._file.execute(query)]

    def add(self, lines: Sequence[StoredLine]) -> None:
        """Append lines in one transaction; they are on the disk when this returns, or none of them is in the file.

        Raises
        ------
        sqlite3.Error
            The file cannot be written, for example because the disk is full.
        """
        with self._transaction():
            self._file.executemany(
                "insert into entries (at, line, crc) values (?, ?, ?)",
                [(each.at, each.line, _crc(each.line)) for each in lines],
            )
        self.size += sum(len(each.line.encode()) for each in lines)
        self.oldest = min([self.oldest, *(each.at for each in lines)])

    def shorten(self, kept: Iterable[str], most_bytes: int, oldest: float) -> None:
        """Replace what is open, and delete lines from the front, in one transaction.

        Parameters
        ----------
        kept
            Lines that rebuild what is open now.
        most_bytes
            The most bytes of lines that stay, but for the last line.
        oldest
            Lines with an earlier time go, s.
        """
        with self._transaction():
            self._file.execute("delete from kept")
            self._file.executemany(
                "insert into kept (line, crc) values (?, ?)", [(line, _crc(line)) for line in kept]
            )
            self._file.execute("update cut set number = (select coalesce(max(number), 0) from entries)")
            self._file.execute(
                "delete from entries where number <= ?", (self._last_to_go(most_bytes, oldest),)
            )
        self.size, self.oldest = self._extent()

    def _last_to_go(self, most_bytes: int, oldest: float) -> int:
        size = 0
        query = "select number, at, length(cast(line as blob)) from entries order by number desc"
        for count, (number, at, length) in enumerate(self._file.execute(query)):
            size += length
            if count and (size > most_bytes or at < oldest):
                return int(number)
        return 0

    def text(self, name: str) -> str | None:
        """Return a saved text; None if there is none of this name."""
        with _checked():
            found = self._file.execute("select content, crc from texts where name = ?", (name,)).fetchone()
            return None if found is None else _whole(*found)

    def texts(self) -> dict[str, str]:
        """Return all saved texts by name."""
        with _checked():
            rows = self._file.execute("select name, content, crc from texts").fetchall()
            return {str(name): _whole(content, crc) for name, content, crc in rows}

    def save(self, name: str, content: str) -> None:
        """Replace a text; it is on the disk when this returns."""
        with self._transaction():
            self._file.execute(
                "insert or replace into texts values (?, ?, ?)", (name, content, _crc(content))
            )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._file.execute("begin immediate")
        try:
            yield
            self._file.execute("commit")
        except BaseException:
            # An interrupt may come after the end of the transaction.
            if self._file.in_transaction:
                self._file.execute("rollback")
            raise

    def close(self) -> None:
        """Close the file; a second call has no effect."""
        with contextlib.suppress(sqlite3.Error):
            self._file.close()


def cause(error: Exception) -> str:
    """Return the cause of an error when a store was opened or used, for messages."""
    return str(error.strerror) if isinstance(error, OSError) and error.strerror else str(error)


def readable_lines(path: Path) -> list[str]:
    """Return what can be read of a damaged journal: lines with their checksum, up to the first damaged page."""
    found: list[str] = []
    with contextlib.suppress(sqlite3.Error, OSError), contextlib.closing(_reader(path)) as file:
        for query in (_KEPT, _LATEST):
            with contextlib.suppress(sqlite3.Error):
                found.extend(
                    line for line, crc in file.execute(query) if isinstance(line, str) and _crc(line) == crc
                )
    return found


def converted(path: Path, open_lines: Iterable[str], lines: Sequence[StoredLine], old: Path) -> None:
    """Replace a file in lines of JSON by a store; a killed process leaves either one, complete.

    Parameters
    ----------
    path
        The file.
    open_lines
        Lines that rebuild what is open.
    lines
        All of its lines.
    old
        The new name of the file.
    """
    fresh = path.with_name(f"{path.name}.new")
    for end in ("", "-wal", "-shm", "-journal"):
        fresh.with_name(f"{fresh.name}{end}").unlink(missing_ok=True)
    store = EntryStore(fresh)
    try:
        store.add(lines)
        store.shorten(open_lines, most_bytes=store.size, oldest=-1.0)
    finally:
        # Closing moves all of its content into the one file.
        store.close()
    os.chmod(fresh, stat.S_IMODE(path.stat().st_mode))
    old.unlink(missing_ok=True)
    os.link(path, old)
    os.replace(fresh, path)
    handle = os.open(path.absolute().parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _connected(path: Path, how: str) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?{how}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=_PATIENCE_S)


def _reader(path: Path) -> sqlite3.Connection:
    file = _connected(path, "mode=ro")
    try:
        _number(file, "schema_version")
    except sqlite3.OperationalError:
        file.close()
        if path.with_name(f"{path.name}-journal").exists() and os.access(path.parent, os.W_OK):
            # A process was killed while it made the file. SQLite undoes what is incomplete, but not to read.
            return _connected(path, "mode=rw")
        # Even to read, SQLite needs a file for its lock, unless no other process can write.
        if path.with_name(f"{path.name}-wal").exists() or os.access(path.parent, os.W_OK):
            raise
        return _connected(path, "mode=ro&immutable=1")
    except sqlite3.DatabaseError:
        # It is reported when the content is read.
        return file
    return file


@contextmanager
def _checked() -> Iterator[None]:
    """Turn SQLite's errors about a file's content into those of a store."""
    try:
        yield
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        kind = NotAStoreError if "not a database" in str(error) else DamagedStoreError
        raise kind(str(error)) from error


def _number(file: sqlite3.Connection, name: str) -> int:
    return int(file.execute(f"pragma {name}").fetchone()[0])


def _crc(line: str) -> int:
    return zlib.crc32(line.encode("utf-8", "surrogatepass"))


def _whole(line: object, crc: object) -> str:
    if not isinstance(line, str) or _crc(line) != crc:
        raise DamagedStoreError("a line has another checksum")
    return line
