"""The two servers of an agent on the wire: single requests, and closed connections."""

import asyncio
import socket
import threading

import pytest

pytest.importorskip("uvicorn", reason="the extra `agent` is not installed")

from windlass.agent import check, web
from windlass.agent.agent import _threaded
from windlass.agent.check import CheckServer
from windlass.agent.options import Address
from windlass.agent.stop import Stop
from windlass.agent.web import LONGEST, Answered, Refusals
from windlass.model import InputError


def answered(answering, messages, method="PUT", headers=()):
    """Handle one request; return the sent messages and the counted rejections."""
    sent, left, refusals = [], list(messages), Refusals()

    async def receive():
        if not left:
            await asyncio.sleep(60.0)
        return left.pop(0)

    async def send(message):
        sent.append(message)

    application = web._application(answering, refusals)
    scope = {"method": method, "path": "/a", "headers": list(headers)}
    asyncio.run(application(scope, receive, send))
    return sent, refusals.by_reason(), left


def piece(body, more=False):
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_request_is_handled_with_its_whole_body():
    requests = []

    def answering(each):
        requests.append(each)
        return Answered(503, b"later\n", "path", "text/x")

    sent, refused, _ = answered(
        answering, [piece(b"ab", True), piece(b"c")], headers=[(b"authorization", b"Bearer x")]
    )
    assert (requests[0].method, requests[0].path, requests[0].authorization, requests[0].body) == (
        "PUT", "/a", b"Bearer x", b"abc",
    )  # fmt: skip
    assert sent == [
        {
            "type": "http.response.start",
            "status": 503,
            "headers": [
                (b"content-type", b"text/x"),
                (b"content-length", b"6"),
                (b"cache-control", b"no-store"),
            ],
        },
        {"type": "http.response.body", "body": b"later\n"},
    ]
    assert refused == (("path", 1),)
    sent, refused, _ = answered(lambda each: Answered(200, b"yes"), [piece(b"")], "HEAD")
    assert dict(sent[0]["headers"])[b"content-length"] == b"3"
    assert sent[1]["body"] == b""
    assert refused == ()


def never(each):
    raise AssertionError("unexpected call")


@pytest.mark.parametrize(
    ("headers", "messages", "left"),
    [
        ([(b"content-length", b"%d" % (LONGEST + 1))], [piece(b"x")], 1),
        ([], [piece(b"x" * LONGEST, True), piece(b"y", True), piece(b"z")], 1),
    ],
)
def test_an_oversized_body_is_rejected_and_the_connection_closed(headers, messages, left):
    sent, refused, rest = answered(never, messages, headers=headers)
    assert (sent[0]["status"], refused, len(rest)) == (413, (("large", 1),), left)
    assert (b"connection", b"close") in sent[0]["headers"]
    assert sent[1]["body"] == b"expected at most 1048576 bytes\n"


def test_a_body_of_the_maximum_length_is_accepted():
    sent, _, _ = answered(
        lambda each: Answered(200, b"%d" % len(each.body)),
        [piece(b"x" * LONGEST)],
        headers=[(b"content-length", b"%d" % LONGEST)],
    )
    assert (sent[0]["status"], sent[1]["body"]) == (200, b"1048576")


def test_a_body_that_does_not_arrive_times_out(monkeypatch):
    monkeypatch.setattr(web, "_PATIENCE", 0.01)
    sent, refused, _ = answered(never, [piece(b"x", True)])
    assert (sent[0]["status"], refused) == (408, (("slow", 1),))
    assert (b"connection", b"close") in sent[0]["headers"]


def test_a_disconnected_client_gets_no_answer():
    assert answered(never, [piece(b"x", True), {"type": "http.disconnect"}])[:2] == ([], ())


def test_each_connection_receives_the_current_line_and_is_closed(monkeypatch):
    # With this timeout, a connection that the server does not close would block the test.
    monkeypatch.setattr(check, "_PATIENCE", 600.0)
    lines = iter(["ready up 80%", "drain", "up 1%"])
    server = CheckServer(Address("127.0.0.1", 0), lambda: next(lines))
    assert server.address.port > 0
    try:
        # An ending process does not wait for it.
        assert [thread.daemon for thread in threading.enumerate() if thread.name == "agent-check"] == [True]
        for expected in (b"ready up 80%\n", b"drain\n"):
            with socket.create_connection(
                (server.address.host, server.address.port), timeout=60.0
            ) as connection:
                found = b""
                while more := connection.recv(100):
                    found += more
                assert found == expected
        with pytest.raises(
            InputError, match=f"--check: cannot listen at 127.0.0.1, port {server.address.port}"
        ):
            CheckServer(server.address, lambda: "")
    finally:
        server.close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((server.address.host, server.address.port), timeout=60.0)


def test_a_web_server_allows_512_connections_and_trusts_no_proxy():
    server = web.WebServer(Address("127.0.0.1", 0), lambda each: Answered(200, b"yes"), Refusals())
    try:
        assert server.alive
        assert server._thread.daemon
        config = server._server.config
        assert (config.limit_concurrency, config.timeout_graceful_shutdown) == (512, 1)
        assert (config.server_header, config.proxy_headers, config.access_log) == (False, False, False)
        assert (config.log_config, config.lifespan, config.ws, config.interface) == (
            None,
            "off",
            "none",
            "asgi3",
        )
        assert issubclass(config.http, web.H11Protocol)
        with socket.create_connection((server.address.host, server.address.port), timeout=60.0) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            answer = b""
            while more := connection.recv(4096):
                answer += more
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"server:" not in answer.lower()
    finally:
        server.close()
    assert not server.alive


def test_agent_threads_are_daemons_that_run_until_stopped():
    stop, ran = Stop(), []

    def run(stopping):
        ran.append(threading.current_thread())
        ran.append(stopping.wait(60.0))

    with _threaded("looks", run, stop):
        assert not stop.requested
    assert [ran[0].name, ran[0].daemon, ran[1]] == ["looks", True, True]
    assert not ran[0].is_alive()


def test_connections_without_a_request_are_closed_and_others_are_kept(monkeypatch):
    """As many silent clients as there may be connections would lock out all others."""
    monkeypatch.setattr(web, "_SILENT_S", 0.3)
    server = web.WebServer(Address("127.0.0.1", 0), lambda request: Answered(200, b"ok"), Refusals())
    place = (server.address.host, server.address.port)
    request = b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"
    try:
        silent, partial, used = (socket.create_connection(place, timeout=60.0) for _ in range(3))
        partial.sendall(request[:20])
        used.sendall(request)
        answer = b""
        while not answer.endswith(b"ok"):
            answer += used.recv(1000)
        assert answer.startswith(b"HTTP/1.1 200")
        assert (silent.recv(10), partial.recv(10)) == (b"", b"")
        # A second request on a connection must begin in time, too.
        used.sendall(request[:20])
        assert used.recv(10) == b""
        with socket.create_connection(place, timeout=60.0) as late:
            late.sendall(request)
            assert late.recv(1000).startswith(b"HTTP/1.1 200")
    finally:
        server.close()


@pytest.mark.parametrize(
    ("last", "waits"), [("drain", True), ("ready up 40%", True), ("ready up 100%", False)]
)
def test_a_drained_server_is_made_ready_before_the_end(monkeypatch, last, waits):
    """HAProxy keeps the last state of an agent that no longer answers."""
    pauses, lines = [], []
    server = CheckServer(Address("127.0.0.1", 0), lambda: last, "ready up 100%")

    def polled():
        with socket.create_connection((server.address.host, server.address.port), timeout=60.0) as client:
            lines.append(client.makefile().read().strip())

    def pause(seconds):
        pauses.append(seconds)
        polled()

    monkeypatch.setattr(check.time, "sleep", pause)
    polled()
    server.close()
    assert lines == [last, *["ready up 100%"] * waits]
    assert pauses == [5.0] * waits
