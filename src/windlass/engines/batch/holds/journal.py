"""The journal of a driver: its decisions and actions, each on disk before it is carried out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from windlass.engines.batch.holds.entries import FORMAT, HoldEntry, OpenActions
from windlass.engines.batch.journal import LIMIT_BYTES, JournalFile, stored_lines
from windlass.engines.batch.store import DamagedStoreError, EntryStore, NotAStoreError
from windlass.model import InputError


class HoldRecord(Protocol):
    """Where a driver records its actions, and reads those of previous drivers."""

    @property
    def standing(self) -> OpenActions:
        """What is known about jobs that the system still lists."""
        ...

    def append(self, *entries: HoldEntry) -> None:
        """Write entries; they are on disk when this returns."""
        ...


class UnwrittenHolds:
    """A journal that is only read, for commands that change nothing.

    Parameters
    ----------
    path
        A journal, which need not exist; None to read none.
    warn
        Called with a line if the file cannot be read; it is then ignored. None for an error.

    Raises
    ------
    InputError
        The file cannot be read, and there is no ``warn``.
    """

    def __init__(self, path: Path | None = None, warn: Callable[[str], None] | None = None) -> None:
        self.standing = OpenActions()
        if path is None or not path.exists():
            return
        try:
            store = EntryStore(path, read_only=True)
            try:
                for line in store.open_lines():
                    self.standing.note(FORMAT.read(line))
            finally:
                store.close()
        except (DamagedStoreError, NotAStoreError, OSError, ValueError, sqlite3.Error) as error:
            line = f"--journal: {path}: cannot be read: {error}"
            if warn is None:
                raise InputError(line) from error
            warn(line)

    def append(self, *entries: HoldEntry) -> None:
        """Discard the entries."""


class HoldJournal(JournalFile[HoldEntry]):
    """Entries in an SQLite file, each on disk when :meth:`append` returns.

    Parameters
    ----------
    path
        The file. An existing one is read first, and then appended to.
    limit
        The size of all entries from which on the oldest are deleted, bytes; see
        :class:`~windlass.engines.batch.journal.JournalFile`.

    Raises
    ------
    InputError
        The file cannot be opened, is damaged, or a line is not an entry.

    Examples
    --------
    >>> import tempfile
    >>> from windlass.engines.batch.holds.entries import Lifted, Lifting
    >>> path = Path(tempfile.mkdtemp()) / "journal"
    >>> with HoldJournal(path) as journal:
    ...     journal.append(Lifting(5.0, "7.s", 1.0, 0), Lifted(6.0, "7.s", 1.0, 0))
    >>> with HoldJournal(path) as journal:
    ...     sorted(journal.standing.released)
    ['7.s']
    """

    def __init__(self, path: Path, limit: int = LIMIT_BYTES) -> None:
        self.standing = OpenActions()
        super().__init__(path, self.standing, FORMAT, limit, label="--journal")


def read_hold_journal(path: Path) -> list[HoldEntry]:
    """Return the entries that a journal's file still has, in order."""
    return [FORMAT.read(line) for line in stored_lines(path)]
