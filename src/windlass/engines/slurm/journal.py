"""The journal of Slurm's driver: its decisions and actions, each on disk before it is carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from windlass.engines.batch.journal import LIMIT_BYTES, JournalFile
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
        try:
            lines = path.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return
        except OSError as error:
            _report(f"--journal: {path}: {error.strerror}", warn)
            return
        damaged: list[str] = []
        for number, line in enumerate(lines, 1):
            try:
                self.standing.note(read_entry(line.decode("utf-8")))
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


class Journal(JournalFile[Entry]):
    """Entries in a file, each on disk when :meth:`append` returns, and the state of jobs that they describe.

    Parameters
    ----------
    path
        The file. An existing one is read first, and then appended to.
    limit
        The size at which it is rotated, bytes; see :class:`~windlass.engines.batch.journal.JournalFile`.
    appended
        Called with entries when they are on disk, before what they announce is carried out.

    Raises
    ------
    InputError
        The file cannot be opened, or a line is not an entry; an incomplete last line is no error.

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
    """Return all complete entries of a journal's file, in order."""
    lines = path.read_bytes().split(b"\n")[:-1]
    return [read_entry(line.decode("utf-8")) for line in lines]
