"""A journal: the decisions and actions of a driver, on disk before they are carried out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from windlass.engines.batch.entries import EntryFormat
from windlass.engines.batch.store import (
    DamagedStoreError,
    EntryStore,
    NotAStoreError,
    StoredLine,
    cause,
    converted,
)
from windlass.model import InputError


class DamagedJournalError(InputError):
    """The file of a journal is damaged; what remains can be read."""


class TimedEntry(Protocol):
    """An entry with the time that it is about, s."""

    @property
    def at(self) -> float:
        """Time, s."""
        ...


Entry = TypeVar("Entry", bound=TimedEntry)

#: Bytes of lines from which on a journal is shortened to half of them.
LIMIT_BYTES = 8 << 20
#: Lines that are older than this are deleted when it is shortened, and it is shortened at least every tenth of it, s.
AGE_S = 90 * 86400.0


class JournalState(Protocol[Entry]):
    """What the entries of a journal describe."""

    def note(self, entry: Entry) -> None:
        """Apply an entry."""
        ...

    def entries(self) -> Sequence[Entry]:
        """Return entries that rebuild this state."""
        ...


class JournalFile(Generic[Entry]):
    """Entries in an SQLite file, each on disk when :meth:`append` returns, and the state of jobs that they describe.

    A file in lines of JSON, as Windlass wrote before, is read and replaced; it stays as ``<path>.jsonl``.

    Parameters
    ----------
    path
        The file. An existing one is read first, and then appended to.
    state
        What the entries describe; it is updated with each.
    form
        The form of an entry on a line.
    limit
        The size of all lines, in bytes, from which on the oldest are deleted: half of it stays. Entries without an
        outcome stay, whatever their age.
    repair
        What to do if the file is damaged, for the error message.
    label
        What users call the file, for error messages.
    appended
        Called with entries when they are on disk, before what they announce is carried out.

    Raises
    ------
    InputError
        The file cannot be opened, is damaged, or a line is not an entry; an incomplete last line of JSON is no error.
    """

    def __init__(
        self,
        path: Path,
        state: JournalState[Entry],
        form: EntryFormat[Entry],
        limit: int = LIMIT_BYTES,
        repair: str = "move the file away",
        label: str = "journal",
        appended: Callable[[Sequence[Entry]], None] = lambda entries: None,
    ) -> None:
        self.path, self._limit, self._appended = path, limit, appended
        self._state, self._form, self._repair, self._label = state, form, repair, label
        #: What was found in the file when it was opened, for people: it was replaced, or a line was incomplete.
        self.notices: tuple[str, ...] = ()
        self._store = self._opened()
        try:
            for line in self._store.open_lines():
                state.note(form.read(line))
        except (DamagedStoreError, ValueError, sqlite3.Error) as error:
            self.close()
            raise self._damaged(error) from error

    def _opened(self) -> EntryStore:
        try:
            try:
                return EntryStore(self.path)
            except NotAStoreError:
                self._convert()
                return EntryStore(self.path)
        except (DamagedStoreError, NotAStoreError) as error:
            raise self._damaged(error) from error
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{self._label}: {self.path}: {cause(error)}") from error

    def _convert(self) -> None:
        """Replace a file in lines of JSON by a store with the same entries."""
        path = self.path.resolve()
        lines, incomplete = json_lines(path)
        kept = []
        for number, line in enumerate(lines, 1):
            try:
                entry = self._form.read(line.decode("utf-8"))
            except ValueError as error:
                raise InputError(
                    f"{self.path}, line {number}: not an entry of a journal: {error}; {self._repair}"
                ) from error
            self._state.note(entry)
            kept.append(StoredLine(entry.at, self._form.line(entry)))
        old = path.with_name(f"{path.name}.jsonl")
        converted(path, map(self._form.line, self._state.entries()), kept, old)
        self.notices = (f"{self.path}: moved into SQLite ({len(kept):,} entries); the old file is {old}",)
        if incomplete:
            self.notices += (
                f"{self.path}, line {len(lines) + 1}: incomplete ({incomplete} bytes); left out",
            )

    def append(self, *entries: Entry) -> None:
        """Write entries; they are on disk when this returns.

        Raises
        ------
        InputError
            They cannot be written, for example because the disk is full; none of them is in the file then. Or they were
            written, and older ones cannot be deleted. An error of ``appended`` is passed on.
        """
        if not entries:
            return
        try:
            self._write([StoredLine(entry.at, self._form.line(entry)) for entry in entries])
            for entry in entries:
                self._state.note(entry)
            if self._store.size > self._limit or self._store.oldest < entries[-1].at - 1.1 * AGE_S:
                self._shorten(entries[-1].at)
        except sqlite3.Error as error:
            raise self._refused(error) from error
        self._appended(entries)

    def _write(self, lines: Sequence[StoredLine]) -> None:
        self._store.add(lines)

    def _shorten(self, now: float) -> None:
        """Delete the oldest lines; what has no outcome is kept."""
        self._store.shorten(map(self._form.line, self._state.entries()), self._limit // 2, now - AGE_S)

    def text(self, name: str) -> str | None:
        """Return a text that an earlier driver saved; None if there is none of this name."""
        try:
            return self._store.text(name)
        except (DamagedStoreError, sqlite3.Error) as error:
            raise self._damaged(error) from error

    def save(self, name: str, content: str) -> None:
        """Replace a text; it is on disk when this returns.

        Raises
        ------
        InputError
            It cannot be written; the text before it stays.
        """
        try:
            self._store.save(name, content)
        except sqlite3.Error as error:
            raise self._refused(error) from error

    def _refused(self, error: sqlite3.Error) -> InputError:
        return InputError(f"{self._label}: {self.path}: cannot be written: {error}")

    def _damaged(self, error: Exception) -> InputError:
        return DamagedJournalError(f"{self._label}: {self.path}: damaged: {error}; {self._repair}")

    def close(self) -> None:
        """Close the file; a second call has no effect."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def json_lines(path: Path) -> tuple[list[bytes], int]:
    """Return the complete lines of a file, and the length of what follows the last one, bytes.

    Raises
    ------
    DamagedStoreError
        The file has no complete line, and does not begin as a line of JSON does.
    """
    # A line and its end were written in one call, so an incomplete last line was never confirmed.
    *lines, last = path.read_bytes().split(b"\n")
    if not lines and last[:1] not in (b"", b"{"):
        raise DamagedStoreError("it is neither a database nor has it lines of JSON")
    return lines, len(last)


def stored_lines(path: Path) -> list[str]:
    """Return all lines of a driver's journal, in order, also while the driver runs.

    Raises
    ------
    InputError
        There is no such file, or it is no journal of a driver.

    Examples
    --------
    >>> stored_lines(Path("no such file"))
    Traceback (most recent call last):
    windlass.model.errors.InputError: no such file: No such file or directory
    """
    try:
        try:
            store = EntryStore(path, read_only=True)
        except NotAStoreError:
            return [line.decode("utf-8", "replace") for line in json_lines(path)[0]]
        try:
            return store.lines()
        finally:
            store.close()
    except (DamagedStoreError, OSError, sqlite3.Error) as error:
        raise InputError(f"{path}: {cause(error)}") from error
