"""A file of streaming queries that is read again when it changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from windlass.engines.streams.executor import QueryFeed
from windlass.model import InputError


class QueryFile:
    """The queries of a file; a change of the file changes them.

    Parameters
    ----------
    path
        The file.
    read
        Reads the file.
    report
        Receives the error of a file that cannot be used; the queries read before stay.

    Examples
    --------
    >>> queries = QueryFile(Path("no-such.yaml"), lambda: (), print)
    >>> queries(0.0)
    ()
    """

    def __init__(
        self, path: Path, read: Callable[[], tuple[QueryFeed, ...]], report: Callable[[str], None]
    ) -> None:
        self._path, self._read, self._report = path, read, report
        self._changed = self._stamp()
        self._feeds = read()

    def __call__(self, now: float) -> Sequence[QueryFeed]:
        """Return the current queries."""
        stamp = self._stamp()
        if stamp != self._changed:
            self._changed = stamp
            try:
                self._feeds = self._read()
            except InputError as error:
                self._report(f"{error}; the queries stay unchanged")
        return self._feeds

    def _stamp(self) -> tuple[int, int]:
        try:
            found = self._path.stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_size
