"""The journal of the driver of Jobs: its decisions and releases, each on disk before it is carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from windlass.engines.batch.entries import Decided, EntryFormat
from windlass.engines.batch.journal import LIMIT_BYTES, JournalFile, stored_lines


@dataclass(frozen=True, slots=True)
class Resuming:
    """A Job is about to be resumed; its ``uid`` identifies it even if its name is used again."""

    at: float
    job: str
    uid: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """The server confirmed that a Job was resumed."""

    at: float
    job: str
    uid: str


@dataclass(frozen=True, slots=True)
class NotResumed:
    """A Job was not resumed; and why."""

    at: float
    job: str
    uid: str
    why: str


JobEntry = Decided | Resuming | Resumed | NotResumed
FORMAT: EntryFormat[JobEntry] = EntryFormat((Decided, Resuming, Resumed, NotResumed))


@dataclass(frozen=True, slots=True)
class Unsettled:
    """Releases in a journal without a recorded outcome, by the ``uid`` of the Job."""

    resuming: dict[str, Resuming] = field(default_factory=dict)

    def note(self, entry: JobEntry) -> None:
        """Apply an entry."""
        match entry:
            case Resuming():
                self.resuming[entry.uid] = entry
            case Resumed() | NotResumed():
                self.resuming.pop(entry.uid, None)
            case _:
                pass

    def entries(self) -> list[JobEntry]:
        """Return entries that rebuild this state."""
        return list(self.resuming.values())


class JobRecord(Protocol):
    """Where a driver records its decisions and releases."""

    @property
    def resuming(self) -> Mapping[str, Resuming]:
        """Releases without a recorded outcome, by the ``uid`` of the Job."""
        ...

    def append(self, *entries: JobEntry) -> None:
        """Write entries; they are on disk when this returns."""
        ...


class UnwrittenJobs:
    """A record that keeps nothing, for commands that change nothing."""

    @property
    def resuming(self) -> Mapping[str, Resuming]:
        """Return an empty mapping."""
        return {}

    def append(self, *entries: JobEntry) -> None:
        """Discard the entries."""


class JobJournal(JournalFile[JobEntry]):
    """Entries in an SQLite file, each on disk when :meth:`append` returns.

    The server itself knows which Jobs were released, by an annotation. The journal has the decision and the intent
    before each release, and its outcome.

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
    >>> path = Path(tempfile.mkdtemp()) / "journal"
    >>> with JobJournal(path) as journal:
    ...     journal.append(Resuming(5.0, "lab/a", "u1"), Resuming(5.0, "lab/b", "u2"), Resumed(6.0, "lab/a", "u1"))
    >>> with JobJournal(path) as journal:
    ...     sorted(journal.resuming)
    ['u2']
    """

    def __init__(self, path: Path, limit: int = LIMIT_BYTES) -> None:
        self._unsettled = Unsettled()
        super().__init__(path, self._unsettled, FORMAT, limit, label="--journal")

    @property
    def resuming(self) -> Mapping[str, Resuming]:
        """Releases without a recorded outcome, by the ``uid`` of the Job."""
        return self._unsettled.resuming


def read_job_journal(path: Path) -> list[JobEntry]:
    """Return the entries that a journal's file still has, in order."""
    return [FORMAT.read(line) for line in stored_lines(path)]
