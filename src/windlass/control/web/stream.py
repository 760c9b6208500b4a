"""Server-Sent Events: each client is notified when the journal has changed, and then fetches its page again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from windlass.control.journal import JournalReader
from windlass.control.web.request import BadRequestError
from windlass.model import InputError

#: The most clients; a further one is refused.
CLIENTS = 64
#: Interval at which the journal is polled, once for all clients, s.
POLL = 1.0
#: A comment is sent after this time without a change, so that proxies keep the connection, s.
_KEEP = 15.0
#: A connection is closed after this time; browsers connect again, s.
_LONGEST = 600.0


class ChangeStream:
    """Polls the journal while clients are connected.

    Parameters
    ----------
    reader
        The journal.
    clients
        The most clients.
    """

    def __init__(self, reader: JournalReader, clients: int = CLIENTS) -> None:
        self._reader, self._most = reader, clients
        self._clients: set[asyncio.Event] = set()
        self._poller: asyncio.Task[None] | None = None

    @property
    def clients(self) -> int:
        """The number of connected clients."""
        return len(self._clients)

    def join(self) -> asyncio.Event:
        """Return an event that is set at each change; :meth:`leave` ends it.

        Raises
        ------
        BadRequestError
            There are as many clients as possible.
        """
        if len(self._clients) >= self._most:
            raise BadRequestError(
                429, f"{self._most} browsers are connected already; this page is not updated"
            )
        changed = asyncio.Event()
        self._clients.add(changed)
        if self._poller is None:
            self._poller = asyncio.get_running_loop().create_task(self._poll())
        return changed

    def leave(self, changed: asyncio.Event) -> None:
        """Forget a client; the last one ends the polling."""
        self._clients.discard(changed)
        if not self._clients and self._poller is not None:
            self._poller.cancel()
            self._poller = None

    async def _poll(self) -> None:
        before: tuple[float, ...] | None = None
        while True:
            # While the journal cannot be read, nothing has changed.
            with contextlib.suppress(InputError):
                now = self._reader.change()
                if before not in (None, now):
                    for each in self._clients:
                        each.set()
                before = now
            await asyncio.sleep(POLL)


async def next_message(changed: asyncio.Event, left: float) -> bytes | None:
    """Return the next message to a client; None if its time is over.

    Parameters
    ----------
    changed
        The client's event.
    left
        Time for which the connection may last, s.
    """
    if left <= 0.0:
        return None
    try:
        await asyncio.wait_for(changed.wait(), min(_KEEP, left))
    except TimeoutError:
        return b": no change\n\n"
    changed.clear()
    return b"event: change\ndata:\n\n"


def lifetime(clock: Callable[[], float]) -> Callable[[], float]:
    """Return a function that returns the time that is left for a connection, s.

    >>> times = iter([0.0, 10.0])
    >>> lifetime(lambda: next(times))()
    590.0
    """
    end = clock() + _LONGEST
    return lambda: end - clock()
