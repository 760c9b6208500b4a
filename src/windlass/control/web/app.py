"""The ASGI application of the pages."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from windlass.control.actions.messages import ActionReply, ActionRequest
from windlass.control.journal import JournalReader
from windlass.control.mcp.protocol import McpServer
from windlass.control.web.access import PageAccess
from windlass.control.web.forms import check_message, form_of, read_body
from windlass.control.web.metrics import CONTENT, metrics_text
from windlass.control.web.pages import (
    FIELDS,
    PAGES,
    PARAMETERS,
    PageContext,
    is_slow,
    posted_page,
    refused_page,
)
from windlass.control.web.request import BadRequestError, PageRequest, request_of
from windlass.control.web.stream import ChangeStream, lifetime, next_message
from windlass.model import InputError

_Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[_Message]]
Send = Callable[[_Message], Awaitable[None]]

#: Sent with each answer. Nothing is loaded from elsewhere, no script or style is in a page, and no other site can frame
#: or read a page.
SECURITY: Mapping[bytes, bytes] = {
    b"content-security-policy": b"default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    b"object-src 'none'",
    b"x-content-type-options": b"nosniff",
    # Without a referrer, browsers would send no origin with a form.
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}
_STATIC = {
    "/static/style.css": "text/css; charset=utf-8",
    "/static/live.js": "text/javascript; charset=utf-8",
    "/static/icon.svg": "image/svg+xml",
}
#: Time for a slow client to accept a message, s.
_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class PageResponse:
    """An answer: status, type and content."""

    status: int
    content: bytes
    kind: str = "text/html; charset=utf-8"


class PagesApp:
    """Answers requests from a journal.

    Parameters
    ----------
    reader
        The journal.
    access
        Checks each request.
    wall, clock
        Time of the wall clock, and time that only grows, s.
    clients
        The most browsers that are notified of changes.
    act
        Sends a request for an action to the process of the engines; None for pages that change nothing.
    """

    def __init__(
        self,
        reader: JournalReader,
        access: PageAccess,
        wall: Callable[[], float],
        clock: Callable[[], float],
        clients: int | None = None,
        act: Callable[[ActionRequest], ActionReply] | None = None,
    ) -> None:
        self._act = act
        self._reader, self._access, self._wall, self._clock = reader, access, wall, clock
        self.changes = ChangeStream(reader) if clients is None else ChangeStream(reader, clients)
        folder = resources.files(__package__) / "static"
        #: Held while an answer that takes long is made.
        self._slow = threading.Lock()
        self._mcp = McpServer(reader, one=self._slow, refuses=True)
        self._static = {path: (folder / path.rpartition("/")[2]).read_bytes() for path in _STATIC}

    async def __call__(self, scope: _Message, receive: Receive, send: Send) -> None:
        """Answer one request of ASGI."""
        head = scope["method"] == "HEAD"
        try:
            request = request_of(
                scope["method"], scope["path"], scope["query_string"], scope["headers"], PARAMETERS
            )
            self._access.check(request)
            if request.path == "/events":
                await self._stream(head, receive, send)
                return
            if request.path == "/mcp":
                found = await self._message(request, scope["headers"], receive)
            elif request.method == "POST":
                found = await self._posted(request, scope["headers"], receive)
            else:
                found = await self._allowed(request)
        except BadRequestError as error:
            found = PageResponse(error.status, f"{error.why}\n".encode(), "text/plain; charset=utf-8")
        except InputError as error:
            found = PageResponse(503, f"{error}\n".encode(), "text/plain; charset=utf-8")
        await _send(found, head, send)

    async def _allowed(self, request: PageRequest) -> PageResponse:
        """Answer a request that has access; if a page refuses its query, it is a page with the reason."""
        try:
            if request.path == "/actions":
                # Which actions there are is requested from another process.
                return await asyncio.to_thread(self._answer, request)
            return await self._slowly(request) if is_slow(request) else self._answer(request)
        except BadRequestError as error:
            if request.path not in PAGES:
                raise
            return _html(error.status, refused_page(request.path, error.why))

    async def _posted(
        self, request: PageRequest, headers: Iterable[tuple[bytes, bytes]], receive: Receive
    ) -> PageResponse:
        """Answer a form, in a thread: an engine may take a while."""
        kind = next((value for name, value in headers if name == b"content-type"), b"").decode("latin-1")
        try:
            form = form_of(request, kind, await read_body(receive), FIELDS[request.path])
            return _html(200, await asyncio.to_thread(posted_page, request.path, form, self._context()))
        except BadRequestError as error:
            if error.status not in (403, 409):
                raise
            return _html(error.status, refused_page(request.path, error.why))

    async def _message(
        self, request: PageRequest, headers: Iterable[tuple[bytes, bytes]], receive: Receive
    ) -> PageResponse:
        """Answer a message of the Model Context Protocol, in a thread."""
        if request.method != "POST":
            raise BadRequestError(405, "only POST is supported here: no messages are sent on their own")
        check_message(headers)
        reply = await asyncio.to_thread(self._mcp.answer, await read_body(receive))
        return PageResponse(202, b"") if reply is None else PageResponse(200, reply, "application/json")

    async def _slowly(self, request: PageRequest) -> PageResponse:
        """Answer in a thread, so that other requests do not wait; one such request at a time."""
        if not self._slow.acquire(blocking=False):
            raise BadRequestError(429, "another replay is under way, try again when it has ended")
        try:
            return await asyncio.to_thread(self._answer, request)
        finally:
            self._slow.release()

    def _answer(self, request: PageRequest) -> PageResponse:
        static = self._static.get(request.path)
        if static is not None:
            return PageResponse(200, static, _STATIC[request.path])
        if request.path == "/metrics":
            return PageResponse(200, metrics_text(self._reader, self._wall()), CONTENT)
        page = PAGES.get(request.path)
        if page is None:
            raise BadRequestError(404, f"no such page, expected one of {', '.join(PAGES)}, /metrics")
        return _html(200, page(request, self._context()))

    def _context(self) -> PageContext:
        return PageContext(self._reader, self._wall(), self.changes.clients, self._act)

    async def _stream(self, head: bool, receive: Receive, send: Send) -> None:
        """Notify a client of changes until it disconnects."""
        if head:
            raise BadRequestError(405, "only GET is supported for a stream of events")
        changed = self.changes.join()
        gone = asyncio.ensure_future(_disconnected(receive))
        try:
            await send(_start(200, "text/event-stream", {}))
            await send({"type": "http.response.body", "body": b"retry: 5000\n\n", "more_body": True})
            left = lifetime(self._clock)
            while True:
                message = asyncio.ensure_future(next_message(changed, left()))
                await asyncio.wait({gone, message}, return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    message.cancel()
                    return
                content = message.result()
                if content is None:
                    break
                body = {"type": "http.response.body", "body": content, "more_body": True}
                await asyncio.wait_for(send(body), _PATIENCE)
            await send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            return
        finally:
            gone.cancel()
            self.changes.leave(changed)


def _html(status: int, page: str) -> PageResponse:
    return PageResponse(status, b"<!doctype html>\n" + page.encode("utf-8"))


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _start(status: int, kind: str, more: Mapping[bytes, bytes]) -> _Message:
    headers = {**SECURITY, b"content-type": kind.encode(), b"cache-control": b"no-store", **more}
    return {"type": "http.response.start", "status": status, "headers": list(headers.items())}


async def _send(found: PageResponse, head: bool, send: Send) -> None:
    more = {b"content-length": b"%d" % len(found.content)}
    if found.status == 401:
        more[b"www-authenticate"] = b'Basic realm="Windlass", charset="UTF-8"'
    if found.status >= 400:
        # The body of a refused request is not read.
        more[b"connection"] = b"close"
    await send(_start(found.status, found.kind, more))
    await send({"type": "http.response.body", "body": b"" if head else found.content})
