"""An HTTP server in its own thread, which passes requests to one function and counts rejected ones.

Needs the extra ``agent``: uvicorn implements HTTP. The socket is bound here, so that a port in use gives a one-line
error, and the server does not handle signals.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from windlass.agent.options import Address
from windlass.model import InputError

#: The largest body of a request, bytes; a message of the tree is about a hundredth of it.
LONGEST = 1 << 20
#: Time limit for receiving a request's body, s.
_PATIENCE = 10.0
#: The most connections; further ones are answered with 503.
_CONNECTIONS = 512
#: Time within which a request must begin on a connection, s.
_SILENT_S = 10.0

_Message = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True)
class WebRequest:
    """A request.

    Parameters
    ----------
    method, path
        The method, and the path without the query.
    authorization
        The header of that name.
    body
        The body.
    """

    method: str
    path: str
    authorization: bytes | None = None
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a request; ``refused`` names the reason of a rejection, under which it is counted.

    Examples
    --------
    >>> Answered(200, b"yes").refused
    ''
    """

    status: int
    body: bytes = b""
    refused: str = ""
    content: str = "text/plain; charset=utf-8"


Answering = Callable[[WebRequest], Answered]


class _GoneError(Exception):
    """The client disconnected before its request was complete, or it did not send HTTP; no answer is possible."""


class Refusals:
    """Numbers of rejected requests by reason; any thread may count."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def count(self, why: str) -> None:
        """Count a rejected request."""
        with self._lock:
            self._counts[why] += 1

    def by_reason(self) -> tuple[tuple[str, int], ...]:
        """Return the counts, sorted by reason."""
        with self._lock:
            return tuple(sorted(self._counts.items()))


def refuse(status: int, why: str, kind: str) -> Answered:
    """Return an answer of one line.

    >>> refuse(404, "no such page", "path").body
    b'no such page\\n'
    """
    return Answered(status, f"{why}\n".encode(), kind)


class ServerThread:
    """An application served by uvicorn in a thread, until it is closed.

    Parameters
    ----------
    application
        The ASGI application.
    sock
        The listening socket, which stays open.
    refusals
        Counts requests that are not HTTP.
    connections
        The most connections; further ones are answered with 503.
    name
        Name of the thread.
    """

    def __init__(
        self, application: Any, sock: socket.socket, refusals: Refusals, connections: int, name: str
    ) -> None:
        # Invalid network input is counted and not logged line by line.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        config = uvicorn.Config(
            application,
            http=_counting(refusals),
            ws="none",
            lifespan="off",
            loop="asyncio",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=connections,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [sock]}, name=name, daemon=True
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


class WebServer(ServerThread):
    """An HTTP server that runs until it is closed.

    Parameters
    ----------
    address
        The address to listen on; port 0 for any free port.
    answering
        Called for each request, in the server's thread: it must be quick.
    refusals
        Counts rejected requests.

    Raises
    ------
    InputError
        The address cannot be listened on.
    """

    def __init__(self, address: Address, answering: Answering, refusals: Refusals) -> None:
        self._socket = listening("--listen", address)
        self.address = Address(address.host, self._socket.getsockname()[1])
        super().__init__(_application(answering, refusals), self._socket, refusals, _CONNECTIONS, "http")

    def close(self) -> None:
        """Stop answering."""
        super().close()
        self._socket.close()


def listening(option: str, address: Address) -> socket.socket:
    """Return a listening socket.

    Raises
    ------
    InputError
        The address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family, backlog=128)
    except OSError as error:
        raise InputError(
            f"{option}: cannot listen at {address.host}, port {address.port}: {error.strerror}"
        ) from error


def _application(
    answering: Answering, refusals: Refusals
) -> Callable[
    [_Message, Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]], Awaitable[None]
]:
    async def application(
        scope: _Message,
        receive: Callable[[], Awaitable[_Message]],
        send: Callable[[_Message], Awaitable[None]],
    ) -> None:
        headers = dict(scope["headers"])
        try:
            body = await asyncio.wait_for(_body(headers, receive), _PATIENCE)
        except TimeoutError:
            found = refuse(408, f"no body within {_PATIENCE:.0f} s", "slow")
        except _GoneError:
            return
        else:
            if body is None:
                found = refuse(413, f"expected at most {LONGEST} bytes", "large")
            else:
                request = WebRequest(scope["method"], scope["path"], headers.get(b"authorization"), body)
                found = answering(request)
        if found.refused:
            refusals.count(found.refused)
        shown = found.body if scope["method"] != "HEAD" else b""
        written = [
            (b"content-type", found.content.encode()),
            (b"content-length", b"%d" % len(found.body)),
            (b"cache-control", b"no-store"),
        ]
        if found.refused in ("slow", "large"):
            written.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": found.status, "headers": written})
        await send({"type": "http.response.body", "body": shown})

    return application


async def _body(headers: dict[bytes, bytes], receive: Callable[[], Awaitable[_Message]]) -> bytes | None:
    """Read a request's body; None if it is too long."""
    if int(headers.get(b"content-length", b"0")) > LONGEST:
        return None
    found = b""
    while True:
        message = await receive()
        piece: bytes = message.get("body", b"")
        found += piece
        if len(found) > LONGEST:
            return None
        if message["type"] == "http.disconnect":
            raise _GoneError
        if not message.get("more_body", False):
            return found


def _counting(refusals: Refusals) -> type[asyncio.Protocol]:
    """Return uvicorn's HTTP protocol with a count of invalid requests.

    A connection on which no request begins within ten seconds is closed. Otherwise as many silent clients as there may
    be connections would lock out all others.
    """

    class Counting(H11Protocol):
        _silence: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._expect_request()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _expect_request(self) -> None:
            """Close the connection later, unless a request is being answered or begins until then."""
            if self.cycle is not None and not self.cycle.response_complete:
                self._stop_waiting()
            elif self._silence is None:
                self._silence = self.loop.call_later(_SILENT_S, self._end_silence)

        def _stop_waiting(self) -> None:
            if self._silence is not None:
                self._silence.cancel()
                self._silence = None

        def _end_silence(self) -> None:
            self._silence = None
            if self.cycle is None or self.cycle.response_complete:
                self.transport.close()

        def send_400_response(self, msg: str) -> None:
            refusals.count("http")
            super().send_400_response(msg)

        def data_received(self, data: bytes) -> None:
            try:
                super().data_received(data)
            except Exception:
                # Invalid input from the network must not be logged as an error of the agent.
                refusals.count("http")
                self.transport.close()
            self._expect_request()

    return Counting
