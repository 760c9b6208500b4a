"""The journal of Slurm's driver: its decisions and actions, each on disk before it is carried out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from windlass.engines.batch.journal import LIMIT_BYTES, JournalFile, json_lines, stored_lines
from windlass.engines.batch.store import DamagedStoreError, EntryStore, NotAStoreError, readable_lines
from windlass.engines.slurm.entries import FORMAT, Entry, Releasing, Standing, read_entry
from windlass.model import InputError


class Record(Protocol):
    """Where a driver records its actions, and reads those of previous drivers."""

    @property
    def under_way(self) -> Mapping[int, Releasing]:
        """Jobs that were released, or were about to be, without a recorded end."""
        ...

    @property
    def standing(self) -> Standing:
        """All actions without a recorded outcome."""
        ...

    def append(self, *entries: Entry) -> None:
        """Write entries."""
        ...

    def text(self, name: str) -> str | None:
        """Return a text that a driver saved; None if there is none of this name."""
        ...

    def save(self, name: str, content: str) -> None:
        """Replace a text."""
        ...


class Unwritten:
    """A journal that is only read, for commands that change nothing.

    Parameters
    ----------
    path
        A journal, which need not exist.
    warn
        Called with a line if the file or a line of it cannot be read; that part is then ignored. None for an error.

    Raises
    ------
    InputError
        The file or a line of it cannot be read, and there is no ``warn``.
    """

    def __init__(self, path: Path, warn: Callable[[str], None] | None = None) -> None:
        self.standing = Standing()
        self._texts: dict[str, str] = {}
        try:
            self._read(path, warn)
        except FileNotFoundError:
            return
        except OSError as error:
            _report(f"--journal: {path}: {error.strerror}", warn)
        except (DamagedStoreError, sqlite3.Error) as error:
            _report(f"--journal: {path}: damaged: {error}", warn)
            self._note(path, readable_lines(path), warn)

    def _read(self, path: Path, warn: Callable[[str], None] | None) -> None:
        try:
            store = EntryStore(path, read_only=True)
        except NotAStoreError:
            self._note(path, [line.decode("utf-8", "replace") for line in json_lines(path)[0]], warn)
            return
        try:
            self._texts = store.texts()
            self._note(path, store.open_lines(), warn)
        finally:
            store.close()

    def _note(self, path: Path, lines: Sequence[str], warn: Callable[[str], None] | None) -> None:
        damaged: list[str] = []
        for number, line in enumerate(lines, 1):
            try:
                self.standing.note(read_entry(line))
            except ValueError as error:
                damaged.append(f"{path}, line {number}: not an entry of a journal: {error}")
        if damaged:
            more = f" (and {len(damaged) - 1:,} more lines)" if len(damaged) > 1 else ""
            _report(f"{damaged[0]}{more}", warn)

    @property
    def under_way(self) -> Mapping[int, Releasing]:
        """See :class:`Record`."""
        return self.standing.under_way

    def append(self, *entries: Entry) -> None:
        """Discard the entries."""

    def text(self, name: str) -> str | None:
        """See :class:`Record`."""
        return self._texts.get(name)

    def save(self, name: str, content: str) -> None:
        """Discard the text."""


class Journal(JournalFile[Entry]):
    """Entries in an SQLite file, each on disk when :meth:`append` returns, and the state of jobs that they describe.

    Parameters
    ----------
    path
        The file. An existing one is read first, and then appended to.
    limit
        The size of all entries from which on the oldest are deleted, bytes; see
        :class:`~windlass.engines.batch.journal.JournalFile`.
    appended
        Called with entries when they are on disk, before what they announce is carried out.

    Raises
    ------
    InputError
        The file cannot be opened, is damaged, or a line is not an entry.

    Examples
    --------
    >>> import tempfile
    >>> from windlass.engines.slurm.entries import Over
    >>> path = Path(tempfile.mkdtemp()) / "journal"
    >>> with Journal(path) as journal:
    ...     journal.append(Releasing(5.0, 7, 1.0, 0), Releasing(5.0, 8, 1.0, 0), Over(9.0, 7, "ended"))
    >>> with Journal(path) as journal:
    ...     sorted(journal.under_way)
    [8]
    """

    def __init__(
        self,
        path: Path,
        limit: int = LIMIT_BYTES,
        *,
        appended: Callable[[Sequence[Entry]], None] = lambda entries: None,
    ) -> None:
        #: All actions without a recorded outcome.
        self.standing = Standing()
        repair = "run `windlass slurm give-back`, and move the file away"
        super().__init__(path, self.standing, FORMAT, limit, repair, "--journal", appended)

    @property
    def under_way(self) -> Mapping[int, Releasing]:
        """Jobs that were released, or were about to be, without a recorded end."""
        return self.standing.under_way


def _report(problem: str, warn: Callable[[str], None] | None) -> None:
    if warn is None:
        raise InputError(problem)
    warn(problem)


def read_journal(path: Path) -> Sequence[Entry]:
    """Return the entries that a journal's file still has, in order."""
    return [read_entry(line) for line in stored_lines(path)]
