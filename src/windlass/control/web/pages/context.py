"""What a page may read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windlass.control.actions.messages import ActionReply, ActionRequest
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
    act
        Sends a request for an action to the process of the engines; None if the pages change nothing.
    """

    reader: JournalReader
    wall: float
    clients: int
    act: Callable[[ActionRequest], ActionReply] | None = None
