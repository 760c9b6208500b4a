"""The pages over HTTP: malformed requests are refused, and the server goes on."""

from __future__ import annotations

import random
import socket

import pytest

from tests.control.journals import fill
from windlass.agent.options import Address
from windlass.agent.web import listening
from windlass.control.actions.messages import ActionReply
from windlass.control.journal import JournalReader
from windlass.control.web.access import PageAccess
from windlass.control.web.server import PagesServer

REQUESTS = 1_000


@pytest.fixture
def server(tmp_path):
    """Yield the address of a server."""
    fill(tmp_path / "journal.db", 100)
    with (
        listening("pages", Address("127.0.0.1", 0)) as bound,
        JournalReader(tmp_path / "journal.db") as reader,
    ):
        found = PagesServer(bound, reader, PageAccess(None), act=lambda request: ActionReply(error="no"))
        try:
            yield bound.getsockname()
        finally:
            found.close()


def sent(address, data: bytes, *, ends: bool = True) -> bytes:
    """Send bytes, perhaps end them, and return the answer until the server closes the connection."""
    with socket.create_connection(address, timeout=20.0) as client:
        try:
            client.sendall(data)
            if ends:
                client.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # The server has refused the request before all of it was sent.
        found = b""
        try:
            while part := client.recv(65536):
                found += part
        except ConnectionResetError:
            pass
        return found


def status_of(answer: bytes) -> int | None:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


def malformed(rng: random.Random) -> tuple[bytes, bool]:
    """Return a malformed request, and whether it is HTTP, so that it must be answered."""

    def noise(most: int) -> bytes:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(1, most)))

    def word(alphabet: bytes, most: int) -> bytes:
        return bytes(rng.choice(alphabet) for _ in range(rng.randrange(1, most)))

    host = b"Host: localhost\r\nConnection: close\r\n"
    path = word(b"abc/%.0123?&=;:@~-", 40)
    match rng.randrange(10):
        case 0:
            return noise(300), False
        case 1:
            return b"GET /" + noise(50) + b" HTTP/1.1\r\n" + host + b"\r\n", False
        case 2:
            return b"GET /none/" + path.replace(b"?", b"") + b" HTTP/1.1\r\n" + host + b"\r\n", True
        case 3:
            return b"GET /decisions?" + path + b"x=1 HTTP/1.1\r\n" + host + b"\r\n", True
        case 4:
            method = rng.choice([b"POST", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"FOO"])
            return method + b" / HTTP/1.1\r\n" + host + b"Content-Length: 3\r\n\r\nabc", True
        case 5:
            name = word(b"abcdefgh.:[]-0123456789", 20)
            return b"GET / HTTP/1.1\r\nConnection: close\r\nHost: evil" + name + b"\r\n\r\n", True
        case 6:
            return b"GET / HTTP/1.1\r\n" + host + b"Origin: http://" + word(b"abc.:/", 20) + b"\r\n\r\n", True
        case 7:
            number = rng.choice(
                [b"-1", b"1e9", b"0x1", b"9" * rng.randrange(20, 60), b"%00", b"%ff%fe", b"%F0%9F"]
            )
            return b"GET /decisions?before=" + number + b" HTTP/1.1\r\n" + host + b"\r\n", True
        case 8:
            return form(rng, host, rng.choice([path, noise(300)]))
        case _:
            line = rng.choice(
                [b"", host + host, host + b"no colon\r\n", host + b"Bad Name: 1\r\n", host + b": 1\r\n"]
            )
            return b"GET / HTTP/1.1\r\n" + line + b"\r\n", True


def form(rng: random.Random, host: bytes, noise: bytes) -> tuple[bytes, bool]:
    """Return a form for an action with a wrong field, header or length, and whether its length is right."""
    encoded = b"Content-Type: application/x-www-form-urlencoded\r\n"
    lines = [
        b"Origin: http://" + rng.choice([b"localhost", b"localhost", b"evil", b""]) + b"\r\n",
        rng.choice([encoded, encoded, encoded, b"Content-Type: text/plain\r\n"]),
    ]
    body = rng.choice([b"ticket=1", b"reason=a&token=b", b"undoes=x&reason=a", noise, b"a=" * 40_000])
    head = b"POST /actions/" + rng.choice([b"preview", b"carry-out", b"none"]) + b" HTTP/1.1\r\n" + host
    head += b"".join(rng.choices(lines, k=1) if rng.random() < 0.2 else lines)
    length = len(body) + rng.choice([0, 0, 0, 5])
    return head + b"Content-Length: %d\r\n\r\n" % length + body, length == len(body)


def test_malformed_requests_are_refused_and_the_server_goes_on(server):
    rng, seen = random.Random(20261128), set()
    for number in range(REQUESTS):
        data, is_http = malformed(rng)
        answer = sent(server, data, ends=not is_http)
        status = status_of(answer)
        seen.add(status)
        # Bytes that are not HTTP may be answered by closing the connection.
        assert status is None if answer == b"" else 400 <= status < 500, (number, data[:200], answer[:200])
        assert not is_http or status is not None, (number, data[:200])
        assert b"Traceback" not in answer
    assert {400, 403, 404, 405, 409, 413, 415, 421} <= seen
    good = sent(server, b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert status_of(good) == 200


def test_pages_are_answered_over_http(server):
    for path in (b"/", b"/decisions", b"/machines", b"/health", b"/static/live.js"):
        answer = sent(server, b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert status_of(answer) == 200
        assert b"content-security-policy" in answer
        assert b"server:" not in answer.lower()
