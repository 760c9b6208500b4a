"""The tools for programs that converse: a client of the protocol, over lines and over HTTP, and what is refused."""

from __future__ import annotations

import asyncio
import io
import json
import random
import subprocess
import sys
import threading
from typing import Any

import pytest

from tests.control.journals import prediction
from tests.control.test_web import app_of, call
from windlass.control.journal import (
    DecisionRecord,
    EngineStatus,
    EventRecord,
    JobKey,
    JournalReader,
    JournalWriter,
    ViewRecord,
)
from windlass.control.mcp.protocol import VERSIONS, McpServer
from windlass.control.mcp.stdio import serve_lines
from windlass.control.mcp.tools import TOOLS, ListArguments, Tool
from windlass.control.site_status import JobState, MachineState, PastJob, QueueStatus, SiteStatus, status_text

NOW = 5_000.0


class Client:
    """Speaks the protocol over a function that sends a message and returns the reply."""

    def __init__(self, send):
        self._send, self._number = send, 0
        started = self.request(
            "initialize",
            {"protocolVersion": VERSIONS[0], "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
        )
        assert started["protocolVersion"] == VERSIONS[0]
        assert "tools" in started["capabilities"]
        self.name = started["serverInfo"]["name"]
        assert send({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None

    def request(self, method: str, params: Any = None) -> Any:
        reply = self.reply(method, params)
        assert "error" not in reply, reply
        return reply["result"]

    def reply(self, method: str, params: Any = None) -> Any:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method}
        found = self._send(message if params is None else message | {"params": params})
        assert (found["jsonrpc"], found["id"]) == ("2.0", self._number)
        return found

    def call(self, tool: str, **arguments: Any) -> Any:
        found = self.request("tools/call", {"name": tool, "arguments": arguments})
        (content,) = found["content"]
        assert content["type"] == "text"
        if found.get("isError"):
            return content["text"]
        assert json.loads(content["text"]) == found["structuredContent"]
        return found["structuredContent"]


@pytest.fixture
def journal(tmp_path):
    """A journal of a site whose queue can be replayed."""
    path = tmp_path / "journal.db"
    running = (JobState("1", "batch job", NOW - 100.0, 4, "head of the queue", 600.0),)
    waiting = tuple(
        JobState(str(job), "batch job", NOW - 90.0 + job, cores, f"{job} jobs ahead", 60.0 * cores)
        for job, cores in ((2, 4), (3, 2), (4, 1))
    )
    past = tuple(PastJob(0.0, each, each + 300.0, 2, 600.0) for each in map(float, range(40)))
    machines = (MachineState("n1", "up", 2, 0), MachineState("n2", "up", 2, 0))
    state = SiteStatus(running, waiting, 1, 3, 4, 0, (), machines, "", QueueStatus("easy", {}, 0, past))
    key = JobKey("demo", "iowa", "1")
    with JournalWriter(path) as writer:
        writer.append(
            DecisionRecord(NOW - 100.0, key, "order", "easy", "start", "head of the queue"),
            EventRecord(NOW - 200.0, key, "submitted", "4 cores"),
            EventRecord(NOW - 100.0, key, "started"),
            *map(prediction, range(3)),
            ViewRecord(NOW, "demo", "iowa", status_text(state)),
            EngineStatus("demo", "running", NOW, "a drawn engine"),
        )
    return path


@pytest.fixture
def reader(journal):
    with JournalReader(journal) as found:
        yield found


def by_lines(reader):
    server = McpServer(reader)

    def send(message):
        replies = io.BytesIO()
        serve_lines(server, io.BytesIO(json.dumps(message).encode() + b"\n"), replies)
        return json.loads(replies.getvalue()) if replies.getvalue() else None

    return send


def by_http(reader):
    app = app_of(reader)

    def send(message):
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        found = asyncio.run(call(app, "/mcp", "POST", headers, json.dumps(message).encode()))
        if "id" not in message:
            assert (found.status, found.body) == (202, b"")
            return None
        assert (found.status, found.headers["content-type"]) == (200, "application/json")
        return json.loads(found.body)

    return send


@pytest.fixture(params=[by_lines, by_http])
def client(request, reader):
    return Client(request.param(reader))


def test_a_client_lists_the_tools_with_their_arguments(client):
    assert client.name == "windlass"
    tools = client.request("tools/list")["tools"]
    assert [tool["name"] for tool in tools] == ["list", "when", "explain", "what_if", "validate"]
    for tool in tools:
        assert tool["annotations"]["readOnlyHint"] is True
        assert tool["inputSchema"]["type"] == "object"
        assert tool["inputSchema"]["additionalProperties"] is False
        assert "$ref" not in json.dumps(tool["inputSchema"])
    assert tools[2]["inputSchema"]["required"] == ["job"]


def test_the_tools_answer_from_the_journal(client, reader):
    (engine,) = client.call("list")["engines"]
    assert (engine["engine"], engine["state"], engine["now"]) == ("demo", "running", "day 1 01:23:20")
    assert [(site["site"], site["waiting"], site["policy"]) for site in engine["sites"]] == [
        ("iowa", 3, "easy")
    ]
    assert [job["why"] for job in engine["waiting"]] == ["2 jobs ahead", "3 jobs ahead", "4 jobs ahead"]
    assert len(client.call("list", limit=1)["engines"][0]["waiting"]) == 1

    (starts,) = client.call("when")["engines"]
    assert [(row["job"], row["median_s"]) for row in starts["starts"]] == [
        (row.job.id, row.median - NOW) for row in reader.predictions.waiting("demo")
    ]
    assert client.call("when", job="batch/1")["engines"][0]["starts"][0]["job"] == "batch/1"

    found = client.call("explain", job="1")
    assert [row["reason"] for row in found["decisions"]] == ["head of the queue"]
    assert [row["event"] for row in found["events"]] == ["started", "submitted"]
    assert [(row["state"], row["for_s"]) for row in found["now"]] == [("running", 100.0)]
    assert "no job 99" in client.call("explain", job="99")


def test_a_what_if_is_that_of_the_page(client):
    found = client.call("what_if", policy="sjf")
    assert "sjf" in found["sentences"][0]
    assert found["sooner"] + found["later"] <= 3
    assert client.call("what_if", without=["n1"])["present_wait_s"] == found["present_wait_s"]
    for wrong, why in (
        ({}, "nothing is different"),
        ({"policy": "./mine.py"}, "no policy"),
        ({"policy": "sjf", "site": "oslo"}, "expected one of demo:iowa"),
        ({"processors": 3, "without": ["n1"]}, "expected one of them"),
        ({"without": ["n9"]}, "no machine 'n9'"),
    ):
        assert why in client.call("what_if", **wrong)


def test_a_scenario_is_checked_without_files(client, tmp_path):
    text = "workload: {lublin: {jobs: 9}}\npolicies: {order: [easy, sjf]}\nseeds: [1, 2]\n"
    found = client.call("validate", scenario=text)
    assert (found["world"], found["variants"], found["runs"]) == ("batch", ["easy", "sjf"], 4)
    (tmp_path / "mine.py").write_text("raise SystemExit('imported')")
    for wrong, why in (
        (text.replace("sjf", str(tmp_path / "mine.py")), "mine.py"),
        (text.replace("sjf", "sfj"), "sfj"),
        ("a: [", "scenario"),
        ("[]", "expected a scenario"),
    ):
        assert why in client.call("validate", scenario=wrong)


def error_of(client, method, params=None) -> str:
    return client.reply(method, params)["error"]["message"]


def test_wrong_arguments_and_methods_are_errors_of_the_protocol(client):
    assert client.reply("tools/call", {"name": "drop"})["error"]["code"] == -32602
    assert client.reply("tools/call", [])["error"]["code"] == -32602
    assert client.reply("resources/list")["error"]["code"] == -32601
    assert client.request("ping") == {}
    assert client.call("list", limit="x") == 'list: limit: expected a whole number, found "x"'
    assert client.call("list", limit=301) == "list: limit: expected at most 300, found 301"
    assert client.call("list", limt=1) == "list: limt: no such field, found 1; did you mean 'limit'?"
    drop, listed = ({"name": name} for name in ("drop", "lits"))
    assert 'name: no such tool, found "drop", expected one of list' in error_of(client, "tools/call", drop)
    assert error_of(client, "tools/call", listed).endswith("; did you mean 'list'?")
    assert error_of(client, "ping", [1]) == "params: expected an object with fields, found a list of 1 entry"
    assert error_of(client, "pong").startswith('method: no such method, found "pong", expected initialize')
    for version in ("1999-01-01", None, 5):
        assert client.request("initialize", {"protocolVersion": version})["protocolVersion"] == VERSIONS[0]
    for version in VERSIONS:
        assert client.request("initialize", {"protocolVersion": version})["protocolVersion"] == version


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"\xff", -32700),
        (b"[]", -32600),
        (b"[{}]", -32600),
        (b"{}", -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
        (b"[" * 100_000, -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b"[" * 100_000, -32700),
    ],
)
def test_a_malformed_message_is_answered_by_an_error(reader, message, code):
    reply = json.loads(McpServer(reader).answer(message))
    assert reply["error"]["code"] == code
    assert "result" not in reply


def test_random_messages_never_raise(reader):
    rng, server = random.Random(20261128), McpServer(reader)
    valid = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list", "arguments": {}}}
    ).encode()
    for _ in range(1_000):
        message = bytearray(valid)
        for _ in range(rng.randrange(1, 6)):
            place = rng.randrange(len(message))
            message[place : place + rng.randrange(3)] = bytes(
                rng.randrange(256) for _ in range(rng.randrange(3))
            )
        reply = server.answer(bytes(message))
        assert reply is None or json.loads(reply)["jsonrpc"] == "2.0"


def test_a_message_of_another_site_or_type_is_refused(reader):
    app, body = app_of(reader), b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    good = {"content-type": "application/json"}
    for headers, status in (
        (good, 200),
        (good | {"origin": "http://localhost:8090"}, 200),
        (good | {"origin": "http://evil.example"}, 403),
        (good | {"origin": "null"}, 403),
        (good | {"host": "rebound.example"}, 421),
        (good | {"mcp-protocol-version": "1999-01-01"}, 400),
        (good | {"mcp-protocol-version": VERSIONS[-1]}, 200),
        ({"content-type": "text/plain"}, 415),
        ({}, 415),
    ):
        assert asyncio.run(call(app, "/mcp", "POST", headers, body)).status == status
    assert asyncio.run(call(app, "/mcp", "GET")).status == 405
    assert asyncio.run(call(app, "/mcp", "DELETE")).status == 405
    assert asyncio.run(call(app, "/mcp", "POST", good, b"a" * 70_000)).status == 413


def test_every_tool_only_reads(journal):
    before = journal.read_bytes()
    with JournalReader(journal) as reader:
        client = Client(by_lines(reader))
        arguments = {
            "explain": {"job": "1"},
            "what_if": {"policy": "sjf"},
            "validate": {"scenario": "{workload: {lublin: {jobs: 9}}, policies: {order: easy}}"},
        }
        for tool in TOOLS:
            assert not isinstance(client.call(tool.name, **arguments.get(tool.name, {})), str), tool.name
    assert journal.read_bytes() == before


@pytest.mark.slow
def test_the_command_speaks_the_protocol_on_standard_input_and_output(journal):
    command = [sys.executable, "-m", "windlass", "mcp", str(journal)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None

    def send(message):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline()) if "id" in message else None

    client = Client(send)
    assert client.call("list")["engines"][0]["engine"] == "demo"
    assert client.call("what_if", policy="sjf")["sentences"]
    process.stdin.close()
    assert process.wait(60.0) == 0
    process.stdout.close()


class Gate:
    """A tool that replays, and waits until it may end."""

    def __init__(self):
        self.begun, self.may_end, self.calls = threading.Semaphore(0), threading.Event(), 0

    def call(self, reader, given):
        self.calls += 1
        self.begun.release()
        assert self.may_end.wait(60.0)
        return {"calls": self.calls}

    def tools(self):
        gate = Tool("gate", "Gate", "Wait.", ListArguments, self.call, replays=True)
        return (gate, *(tool for tool in TOOLS if tool.name == "list"))


def called(number, tool):
    params = {"name": tool, "arguments": {}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()


def test_a_message_is_answered_while_a_replay_runs_and_a_second_replay_waits(reader):
    gate, lines = Gate(), io.BytesIO(b"\n".join([called(1, "gate"), called(2, "gate"), called(3, "list")]))
    seen = []

    class Replies:
        def write(self, line):
            seen.append(json.loads(line)["id"])
            # The first reply is that of the last message; then the replay ends.
            gate.may_end.set()

        def flush(self):
            pass

    serve_lines(McpServer(reader, gate.tools()), lines, Replies())
    assert (seen[0], sorted(seen), gate.calls) == (3, [1, 2, 3], 2)


def test_by_http_a_second_replay_is_refused(reader):
    gate = Gate()
    server = McpServer(reader, gate.tools(), refuses=True)
    first = threading.Thread(target=server.answer, args=(called(1, "gate"),))
    first.start()
    try:
        assert gate.begun.acquire(timeout=60.0)
        refused = json.loads(server.answer(called(2, "gate")))["result"]
        assert (refused["isError"], gate.calls) == (True, 1)
        assert "another replay is under way" in refused["content"][0]["text"]
        assert not json.loads(server.answer(called(3, "list")))["result"].get("isError")
    finally:
        gate.may_end.set()
        first.join()
    assert "isError" not in json.loads(server.answer(called(4, "gate")))["result"]
