"""A kernel file that is kept open and read repeatedly, because opening it would cost as much as reading it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

#: Read size, bytes: larger than most kernel files; others take several reads.
_SIZE = 1 << 16


class ProcFile:
    """A /proc file kept open and re-read on each sample.

    If it cannot be opened, each read tries again, as it may appear later. If reading fails because a cgroup or process
    has ended, it is closed, and the next read tries to open it.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> file = ProcFile(Path("/proc/loadavg"))
    >>> len(file.read().split()), file.why
    (5, '')
    >>> missing = ProcFile(Path("/proc/nothing"))
    >>> missing.read(), missing.why
    (None, 'No such file or directory')
    """

    __slots__ = ("_file", "path", "why")

    def __init__(self, path: Path) -> None:
        self.path = path
        #: Why the last read failed; empty if it did not.
        self.why = ""
        self._file = -1

    def read(self) -> bytes | None:
        """Return the file's current content; None if it cannot be read."""
        try:
            if self._file < 0:
                self._file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            # The kernel returns long files in pieces, each of a different instant.
            found = b""
            while piece := os.pread(self._file, _SIZE, len(found)):
                found += piece
        except OSError as error:
            self.close()
            self.why = error.strerror or str(error)
            return None
        self.why = ""
        return found

    def close(self) -> None:
        """Close the file; the next read opens it again."""
        if self._file >= 0:
            with suppress(OSError):
                os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        self.close()
