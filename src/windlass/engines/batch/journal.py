"""A journal: one line per decision or action of a driver, written to disk before it is carried out."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Generic, Protocol, Self, TypeVar

from windlass.engines.batch.entries import EntryFormat
from windlass.model import InputError

Entry = TypeVar("Entry")

#: Size at which a journal is rotated, bytes.
LIMIT_BYTES = 8 << 20


class JournalState(Protocol[Entry]):
    """What the entries of a journal describe."""

    def note(self, entry: Entry) -> None:
        """Apply an entry."""
        ...

    def entries(self) -> Sequence[Entry]:
        """Return entries that rebuild this state."""
        ...


class JournalFile(Generic[Entry]):
    """Entries in a file, each on disk when :meth:`append` returns, and the state of jobs that they describe.

    Parameters
    ----------
    path
        The file. An existing one is read first, and then appended to.
    state
        What the entries describe; it is updated with each.
    form
        The form of an entry on a line.
    limit
        The size at which it is rotated, bytes: the new file has only actions without an outcome; the old one replaces
        ``<path>.1``. If the new file has more than half of this size, it is rotated at twice its own size.
    repair
        What to do if a line is not an entry, for the error message.
    label
        What users call the file, for error messages.
    appended
        Called with entries when they are on disk, before what they announce is carried out.

    Raises
    ------
    InputError
        The file cannot be opened, or a line is not an entry; an incomplete last line is no error.
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
        self.path, self._limit, self._least, self._appended = path, limit, limit, appended
        self._state, self._form, self._repair, self._label = state, form, repair, label
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
            raise InputError(f"{self._label}: {path}: {error.strerror}") from error

    def _read(self) -> int:
        """Read the file; return the length of its complete lines, bytes."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise InputError(f"{self._label}: {self.path}: {error.strerror}") from error
        lines = content.split(b"\n")
        # A line and its end are written in one call, so an incomplete last line was never confirmed by append().
        last = lines.pop()
        for number, line in enumerate(lines, 1):
            try:
                self._state.note(self._form.read(line.decode("utf-8")))
            except ValueError as error:
                raise InputError(
                    f"{self.path}, line {number}: not an entry of a journal: {error}; {self._repair}"
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
            written, and the file cannot be rotated. An error of ``appended`` is passed on.
        """
        if not entries:
            return
        before = os.fstat(self._file.fileno()).st_size
        try:
            self._write("".join(f"{self._form.line(entry)}\n" for entry in entries).encode("utf-8"))
        except OSError as error:
            # A partial line would corrupt the next entry, too.
            with contextlib.suppress(OSError):
                self._file.truncate(before)
            raise self._refused(error) from error
        for entry in entries:
            self._state.note(entry)
        if os.fstat(self._file.fileno()).st_size > self._limit:
            try:
                self._rotate()
            except OSError as error:
                self._named("new").unlink(missing_ok=True)
                raise self._refused(error) from error
        self._appended(entries)

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        # On a full disk the first call writes a part, and only the next one fails.
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())

    def _refused(self, error: OSError) -> InputError:
        return InputError(f"{self._label}: {self.path}: cannot be written: {error.strerror or error}")

    def _named(self, end: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{end}")

    def _rotate(self) -> None:
        """Rotate the file: the new one is complete before it replaces the old one."""
        fresh, before = self._named("new"), self._named("1")
        with open(fresh, "wb") as out:
            out.write(
                "".join(f"{self._form.line(entry)}\n" for entry in self._state.entries()).encode("utf-8")
            )
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
