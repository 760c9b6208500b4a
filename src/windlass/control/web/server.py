"""HTTP by uvicorn on a listening socket, until a stop is requested."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

from windlass.agent.web import Refusals, ServerThread
from windlass.control.actions.messages import ActionReply, ActionRequest
from windlass.control.journal import JournalReader
from windlass.control.web.access import PageAccess
from windlass.control.web.app import PagesApp

#: The most connections; further ones are answered with 503.
_CONNECTIONS = 256


class PagesServer(ServerThread):
    """Serves the pages in a thread.

    Parameters
    ----------
    listening
        A listening socket, which stays open.
    reader
        The journal, which only this server uses from now on.
    access
        Checks each request.
    clients
        The most browsers that are notified of changes; None for the default.
    act
        Sends a request for an action to the process of the engines; None for pages that change nothing.
    wall, clock
        Time of the wall clock, and time that only grows, s.
    """

    def __init__(
        self,
        listening: socket.socket,
        reader: JournalReader,
        access: PageAccess,
        clients: int | None = None,
        wall: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
        act: Callable[[ActionRequest], ActionReply] | None = None,
    ) -> None:
        #: Counts requests that are not HTTP.
        self.refusals = Refusals()
        pages = PagesApp(reader, access, wall, clock, clients, act)
        super().__init__(pages, listening, self.refusals, _CONNECTIONS, "pages")
