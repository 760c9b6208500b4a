"""A file of the kernel that stays open: it is read again and again, and to open it would cost as much as to read it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

#: More than most files of the kernel have; the others take more than one read.
_SIZE = 1 << 16


class Held:
    """A file that says something new each time.

    One that cannot be opened is tried again with each read: it may come later. One that was open and is gone, as the
    files of a control group or a process that has ended, is gone for good only if it cannot be opened again.

    Parameters
    ----------
    path
        Where it is.

    Examples
    --------
    >>> file = Held(Path("/proc/loadavg"))
    >>> len(file.read().split()), file.why
    (5, '')
    >>> missing = Held(Path("/proc/nothing"))
    >>> missing.read(), missing.why
    (None, 'No such file or directory')
    """

    __slots__ = ("_file", "path", "why")

    def __init__(self, path: Path) -> None:
        self.path = path
        #: Why it could not be read the last time; empty where it could.
        self.why = ""
        self._file = -1

    def read(self) -> bytes | None:
        """All that it says now; None where it cannot be read."""
        try:
            if self._file < 0:
                self._file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            # The kernel hands out long files in pieces, each as of its own instant.
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
        """Give the file back; the next read opens it again."""
        if self._file >= 0:
            with suppress(OSError):
                os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        self.close()
