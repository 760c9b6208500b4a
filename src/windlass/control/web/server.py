"""HTTP by uvicorn on a listening socket, until a stop is requested."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable

import uvicorn

from windlass.agent.web import Refusals, counting_protocol
from windlass.control.journal import JournalReader
from windlass.control.web.access import PageAccess
from windlass.control.web.app import PagesApp

#: The most connections; further ones are answered with 503.
_CONNECTIONS = 256


class PagesServer:
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
    ) -> None:
        #: Counts requests that are not HTTP.
        self.refusals = Refusals()
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        config = uvicorn.Config(
            PagesApp(reader, access, wall, clock, clients),
            http=counting_protocol(self.refusals),
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listening]}, name="pages", daemon=True
        )
        self._thread.start()

    @property
    def alive(self) -> bool:
        """True while the server runs."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop answering."""
        self._server.should_exit = True
        self._thread.join(timeout=5.0)
