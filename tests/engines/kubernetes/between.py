"""Stands between an autoscaler and its API server: writes down what is asked, and gets in the way when told to."""

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
class Asked:
    """One request, as it came in: its number from 1 on, and when, in seconds since 1970."""

    number: int
    at: float
    method: str
    path: str
    body: bytes

    @property
    def writes(self) -> bool:
        """Whether it could change anything."""
        return self.method != "GET"

    @property
    def tree(self) -> Any:
        """What it sends."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said to a request.

    Parameters
    ----------
    status
        Of HTTP; 0 to hang up without a word.
    body
        What comes of it.
    promised
        How many bytes are to come; those of ``body`` unless named.
    drips
        Whether there comes a blank after the other, without end.
    """

    status: int
    body: bytes
    promised: int | None = None
    drips: bool = False


class Upstream(Protocol):
    """Who is handed what was asked."""

    def ask(self, asked: Asked, headers: dict[str, str]) -> Answer:
        """What it says."""
        ...


@dataclass(frozen=True, slots=True)
class Remote:
    """A server, and how to trust it."""

    url: str
    trust: ssl.SSLContext | None = None

    def ask(self, asked: Asked, headers: dict[str, str]) -> Answer:
        """What it says."""
        request = urllib.request.Request(
            self.url + asked.path, asked.body or None, headers, method=asked.method
        )
        try:
            with _opener(self.trust).open(request, timeout=60.0) as response:
                return Answer(response.status, response.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read())


class Between:
    """A server on a port of its own that hands on what it is asked.

    ``before`` sees each request before it is handed on, and may answer it itself; ``after`` sees it with its answer,
    before that is given.
    """

    def __init__(self, upstream: Upstream) -> None:
        self.upstream, self.all, self.answers = upstream, [], {}
        self.before: Callable[[Asked], Answer | None] = lambda asked: None
        self.after: Callable[[Asked], None] = lambda asked: None
        self._lock, self._port = threading.Lock(), 0
        self._open()

    @property
    def url(self) -> str:
        """Where it is, also while it is away."""
        return f"http://127.0.0.1:{self._port}"

    def written(self, since: int = 0) -> list[tuple[Asked, Answer]]:
        """What changed something upstream, after so many requests."""
        done = [(asked, self.answers.get(asked.number)) for asked in list(self.all)[since:] if asked.writes]
        return [(asked, answer) for asked, answer in done if answer is not None and answer.status < 300]

    def close(self) -> None:
        """Nobody listens on its port any more, until :meth:`back`."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def back(self) -> None:
        """It is there again."""
        self._open()

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        """What is said to one request."""
        with self._lock:
            asked = Asked(len(self.all) + 1, time.time(), method, path, body)
            self.all.append(asked)
        found = self.before(asked)
        if found is None:
            found = self.upstream.ask(asked, headers)
            self.answers[asked.number] = found
            self.after(asked)
        return found

    def _open(self) -> None:
        between = self

        class Handler(BaseHTTPRequestHandler):
            def _any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                kept = ("Authorization", "Content-Type", "Accept")
                headers = {name: self.headers[name] for name in kept if self.headers[name]}
                # Who asked may have been killed by now.
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
    """Asks directly, whatever stands between this machine and others."""
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
    """Gives one answer to all requests, and keeps these with their headers."""

    def __init__(self):
        self.answer, self.asked = Answer(200, b'{"items": []}'), []

    def ask(self, asked, headers):
        self.asked.append((asked.method, asked.path, asked.body, headers))
        return self.answer
