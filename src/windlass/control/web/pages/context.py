"""What a page may read."""

from __future__ import annotations

from dataclasses import dataclass

from windlass.control.journal import JournalReader


@dataclass(frozen=True, slots=True)
class PageContext:
    """The journal and the time.

    Parameters
    ----------
    reader
        The journal.
    wall
        Time of the wall clock, s since 1970.
    clients
        Browsers that are notified of changes.
    """

    reader: JournalReader
    wall: float
    clients: int
