"""What a driver decided and did, a line each, on disk before it is done: it survives the driver's own death."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol

from windlass.engines.slurm.entries import Entry, Releasing, Standing, entry_line, read_entry
from windlass.model import InputError

#: A journal that has grown to so many bytes begins anew, and one of before is kept.
LIMIT_BYTES = 8 << 20


class Record(Protocol):
    """Where a driver writes what it does, and finds what one before it left."""

    @property
    def under_way(self) -> Mapping[int, Releasing]:
        """Jobs that were let go, or were about to be, and of whose end nothing is written."""
        ...

    @property
    def standing(self) -> Standing:
        """All that is under way."""
        ...

    def append(self, *entries: Entry) -> None:
        """Write entries."""
        ...


class Unwritten:
    """Knows what a journal says, and writes nothing: for those who only look.

    Parameters
    ----------
    path
        A journal, which need not be there.
    """

    def __init__(self, path: Path) -> None:
        self.standing = Standing()
        for entry in read_journal(path) if path.exists() else ():
            self.standing.note(entry)

    @property
    def under_way(self) -> Mapping[int, Releasing]:
        """As of :class:`Record`."""
        return self.standing.under_way

    def append(self, *entries: Entry) -> None:
        """Nothing."""


class Journal:
    """Entries in a file, each on disk when :meth:`append` returns; and what they say of jobs that are under way.

    Parameters
    ----------
    path
        The file. One that exists is read first, and gone on with.
    limit
        At how many bytes it begins anew with what is under way alone; what was before is kept in
        ``<path>.1``, and what was there is gone.

    Raises
    ------
    InputError
        The file cannot be opened, or has a line that is no entry, other than a last one that was cut off.

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
        self.path, self._limit = path, limit
        #: All that is under way.
        self.standing = Standing()
        #: What was found cut off at the end, in words; empty where nothing was.
        self.torn = ""
        #: Entries read when it was opened.
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
        """Jobs that were let go, or were about to be, and of whose end nothing is written."""
        return self.standing.under_way

    def _read(self) -> int:
        """Take in what is written; of how many bytes it is."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise InputError(f"--journal: {self.path}: {error.strerror}") from error
        lines = content.split(b"\n")
        # A line is written with its end in one call: without it, the rest was never promised to anybody.
        last = lines.pop()
        for number, line in enumerate(lines, 1):
            try:
                self.standing.note(read_entry(line.decode("utf-8")))
            except ValueError as error:
                raise InputError(f"{self.path}, line {number}: not an entry of a journal: {error}") from error
        self.read = len(lines)
        if last:
            self.torn = f"{self.path}, line {len(lines) + 1}: cut off after {len(last)} bytes, and left out"
        return len(content) - len(last)

    def append(self, *entries: Entry) -> None:
        """Write entries; they are on disk when this returns.

        Raises
        ------
        InputError
            They cannot be written, as where the disk is full; the file is as it was then. Or they are, and it cannot
            begin anew.
        """
        if not entries:
            return
        before = os.fstat(self._file.fileno()).st_size
        try:
            self._write("".join(f"{entry_line(entry)}\n" for entry in entries).encode("utf-8"))
        except OSError as error:
            # Half a line would be gone on with by the next entry, and neither could be read.
            with contextlib.suppress(OSError):
                self._file.truncate(before)
            raise self._refused(error) from error
        for entry in entries:
            self.standing.note(entry)
        if self._file.tell() > self._limit:
            try:
                self._begin_anew()
            except OSError as error:
                self._named("new").unlink(missing_ok=True)
                raise self._refused(error) from error

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        # What meets the end of a disk is written in part, and only what follows is an error.
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())

    def _refused(self, error: OSError) -> InputError:
        return InputError(f"--journal: {self.path}: cannot be written: {error.strerror or error}")

    def _named(self, end: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{end}")

    def _begin_anew(self) -> None:
        """The new file is whole before it takes the old one's place, whenever the machine stops."""
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

    def _sync_folder(self) -> None:
        handle = os.open(self.path.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def close(self) -> None:
        """Let go of the file; more than once does no harm."""
        with contextlib.suppress(OSError):
            self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_journal(path: Path) -> Sequence[Entry]:
    """All whole entries of a journal's file, in order."""
    lines = path.read_bytes().split(b"\n")[:-1]
    return [read_entry(line.decode("utf-8")) for line in lines]
