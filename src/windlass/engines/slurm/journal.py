"""The journal: one line per decision or action, written to disk before it is carried out."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol

from windlass.engines.slurm.entries import Entry, Releasing, Standing, entry_line, read_entry
from windlass.model import InputError

#: Size at which a journal is rotated, bytes.
LIMIT_BYTES = 8 << 20


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


class Journal:
    """Entries in a file, each on disk when :meth:`append` returns, and the state of jobs that they describe.

    Parameters
    ----------
    path
        The file. An existing one is read first, and then appended to.
    limit
        The size at which it is rotated, bytes: the new file has only actions without an outcome; the old one replaces
        ``<path>.1``. If the new file has more than half of this size, it is rotated at twice its own size.

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

    def __init__(self, path: Path, limit: int = LIMIT_BYTES) -> None:
        self.path, self._limit, self._least = path, limit, limit
        #: All actions without a recorded outcome.
        self.standing = Standing()
        #: A warning about an incomplete last line; empty if there was none.
        self.torn = ""
        #: The number of entries read at opening.
        self.read = 0
        whole = self._read()
        try:
            self._file: BinaryIO = open(path, "ab", buffering=0)  # noqa: SIM115
            self._file.truncate(whole)
            self._sync_folder()
        except OSError as error:
            raise InputError(f"--journal: {path}: {error.strerror}") from error

    @property
    def under_way(self) -> Mapping[int, Releasing]:
        """Jobs that were released, or were about to be, without a recorded end."""
        return self.standing.under_way

    def _read(self) -> int:
        """Read the file; return the length of its complete lines, bytes."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise InputError(f"--journal: {self.path}: {error.strerror}") from error
        lines = content.split(b"\n")
        # A line and its end are written in one call, so an incomplete last line was never confirmed by append().
        last = lines.pop()
        for number, line in enumerate(lines, 1):
            try:
                self.standing.note(read_entry(line.decode("utf-8")))
            except ValueError as error:
                raise InputError(
                    f"{self.path}, line {number}: not an entry of a journal: {error}; "
                    "run `windlass slurm give-back`, and move the file away"
                ) from error
        self.read = len(lines)
        if last:
            self.torn = f"{self.path}, line {len(lines) + 1}: incomplete ({len(last)} bytes); removed"
        return len(content) - len(last)

    def append(self, *entries: Entry) -> None:
        """Write entries; they are on disk when this returns.

        Raises
        ------
        InputError
            They cannot be written, for example because the disk is full; the file is then unchanged. Or they were
            written, and the file cannot be rotated.
        """
        if not entries:
            return
        before = os.fstat(self._file.fileno()).st_size
        try:
            self._write("".join(f"{entry_line(entry)}\n" for entry in entries).encode("utf-8"))
        except OSError as error:
            # A partial line would corrupt the next entry, too.
            with contextlib.suppress(OSError):
                self._file.truncate(before)
            raise self._refused(error) from error
        for entry in entries:
            self.standing.note(entry)
        if os.fstat(self._file.fileno()).st_size > self._limit:
            try:
                self._rotate()
            except OSError as error:
                self._named("new").unlink(missing_ok=True)
                raise self._refused(error) from error

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        # On a full disk the first call writes a part, and only the next one fails.
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())

    def _refused(self, error: OSError) -> InputError:
        return InputError(f"--journal: {self.path}: cannot be written: {error.strerror or error}")

    def _named(self, end: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{end}")

    def _rotate(self) -> None:
        """Rotate the file: the new one is complete before it replaces the old one."""
        fresh, before = self._named("new"), self._named("1")
        with open(fresh, "wb") as out:
            out.write("".join(f"{entry_line(entry)}\n" for entry in self.standing.entries()).encode("utf-8"))
            out.flush()
            os.fsync(out.fileno())
        before.unlink(missing_ok=True)
        os.link(self.path, before)
        os.replace(fresh, self.path)
        self._sync_folder()
        self._file.close()
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115
        # Otherwise a journal of many actions without an outcome would be rotated at each entry.
        self._limit = max(self._least, 2 * os.fstat(self._file.fileno()).st_size)

    def _sync_folder(self) -> None:
        handle = os.open(self.path.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def close(self) -> None:
        """Close the file; a second call has no effect."""
        with contextlib.suppress(OSError):
            self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _report(problem: str, warn: Callable[[str], None] | None) -> None:
    if warn is None:
        raise InputError(problem)
    warn(problem)


def read_journal(path: Path) -> Sequence[Entry]:
    """Return all complete entries of a journal's file, in order."""
    lines = path.read_bytes().split(b"\n")[:-1]
    return [read_entry(line.decode("utf-8")) for line in lines]
