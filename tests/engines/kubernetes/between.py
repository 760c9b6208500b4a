"""A proxy between an autoscaler and its API server: it records requests, and injects faults."""

from __future__ import annotations

import json
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One received request: its number from 1 on, and its time (s since 1970)."""

    number: int
    at: float
    method: str
    path: str
    body: bytes

    @property
    def writes(self) -> bool:
        """True if the request could change an object."""
        return self.method != "GET"

    @property
    def tree(self) -> Any:
        """The decoded body."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request.

    Parameters
    ----------
    status
        HTTP status; 0 to close the connection without an answer.
    body
        The body.
    promised
        The announced length; that of ``body`` by default.
    drips
        Whether blanks follow without end.
    """

    status: int
    body: bytes
    promised: int | None = None
    drips: bool = False


class Upstream(Protocol):
    """The server behind the proxy."""

    def ask(self, requested: ApiRequest, headers: dict[str, str]) -> Answer:
        """Return the answer to a request."""
        ...


@dataclass(frozen=True, slots=True)
class Remote:
    """A server and its TLS context."""

    url: str
    trust: ssl.SSLContext | None = None

    def ask(self, requested: ApiRequest, headers: dict[str, str]) -> Answer:
        """Return the answer to a request."""
        request = urllib.request.Request(
            self.url + requested.path, requested.body or None, headers, method=requested.method
        )
        try:
            with _opener(self.trust).open(request, timeout=60.0) as response:
                return Answer(response.status, response.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read())


class Between:
    """A server on its own port that forwards requests.

    ``before`` sees each request before it is forwarded, and may answer it itself; ``after`` sees it with its answer,
    before the answer is sent.
    """

    def __init__(self, upstream: Upstream) -> None:
        self.upstream, self.all, self.answers = upstream, [], {}
        self.before: Callable[[ApiRequest], Answer | None] = lambda requested: None
        self.after: Callable[[ApiRequest], None] = lambda requested: None
        self._lock, self._port = threading.Lock(), 0
        self._open()

    @property
    def url(self) -> str:
        """The URL, also while the proxy is closed."""
        return f"http://127.0.0.1:{self._port}"

    def written(self, since: int = 0) -> list[tuple[ApiRequest, Answer]]:
        """Return the writing requests after the first `since` ones, with their answers."""
        done = [(each, self.answers.get(each.number)) for each in list(self.all)[since:] if each.writes]
        return [
            (requested, answer) for requested, answer in done if answer is not None and answer.status < 300
        ]

    def close(self) -> None:
        """Stop listening, until :meth:`back`."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def back(self) -> None:
        """Listen again."""
        self._open()

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        """Return the answer to one request."""
        with self._lock:
            requested = ApiRequest(len(self.all) + 1, time.time(), method, path, body)
            self.all.append(requested)
        found = self.before(requested)
        if found is None:
            found = self.upstream.ask(requested, headers)
            self.answers[requested.number] = found
            self.after(requested)
        return found

    def _open(self) -> None:
        between = self

        class Handler(BaseHTTPRequestHandler):
            def _any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                kept = ("Authorization", "Content-Type", "Accept")
                headers = {name: self.headers[name] for name in kept if self.headers[name]}
                # The client may have been killed by now.
                with suppress(OSError):
                    _say(self, between.answer(self.command, self.path, headers, body))

            do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _any  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

        self._server = Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()


def _opener(trust: ssl.SSLContext | None) -> urllib.request.OpenerDirector:
    """Return an opener without any proxy."""
    secure = urllib.request.HTTPSHandler(context=trust)
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), secure)


def _say(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    if answer.status == 0:
        return
    handler.send_response(answer.status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(answer.promised or len(answer.body)))
    handler.end_headers()
    handler.wfile.write(answer.body)
    while answer.drips:
        handler.wfile.write(b" ")
        time.sleep(0.1)


class OneAnswer:
    """A server that gives one answer to all requests, and records them with their headers."""

    def __init__(self):
        self.answer, self.requested = Answer(200, b'{"items": []}'), []

    def ask(self, requested, headers):
        self.requested.append((requested.method, requested.path, requested.body, headers))
        return self.answer
