"""The agent as a command on this machine: under CPU hogs, behind HAProxy, stopped, killed and restarted."""

from __future__ import annotations

import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.engines.linux.agent.conftest import SECRET, ask, shown
from windlass.agent.envelope import opened
from windlass.agent.options import Address
from windlass.engines.linux.telemetry.observer import Observer

pytest.importorskip("uvicorn", reason="the extra `agent` is not installed")
pytest.importorskip("prometheus_client", reason="the extra `agent` is not installed")
if not os.path.exists("/proc/self/task"):
    pytest.skip("no /proc of Linux here", allow_module_level=True)

#: Timeout (s), long enough for a machine with three times the work it can do.
LONG = 300.0
COMMAND = [sys.executable, "-c", "from windlass.cli import main; main()", "agent"]


class Process:
    """A running agent or aggregator, and its output."""

    def __init__(self, *arguments: str, token: str | None = None) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "WINDLASS_TOKEN"}
        if token is not None:
            environment["WINDLASS_TOKEN"] = token
        self.process = subprocess.Popen(
            [*COMMAND, *arguments], stderr=subprocess.PIPE, text=True, env=environment
        )
        self.lines: list[str] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)

    def found(self, pattern: str) -> re.Match[str]:
        """Wait for a line that matches the pattern."""
        hits: list[re.Match[str]] = []

        def look() -> bool:
            hits.extend(hit for line in self.lines if (hit := re.search(pattern, line)))
            return bool(hits)

        until(look, f"{pattern!r} in the output", self.process)
        return hits[0]

    @property
    def address(self) -> Address:
        hit = self.found(r" http://([\d.]+):(\d+)(?:/accept|, \d+ agents known)")
        return Address(hit.group(1), int(hit.group(2)))

    @property
    def check(self) -> Address:
        hit = self.found(r"agent-check at ([\d.]+), port (\d+)")
        return Address(hit.group(1), int(hit.group(2)))

    def end(self, by: int = signal.SIGTERM) -> int:
        """Stop it and return its exit status."""
        self.process.send_signal(by)
        found = self.process.wait(timeout=LONG)
        self._thread.join()
        return found


def until(look: Callable[[], bool], what: str, process: subprocess.Popen[str] | None = None) -> None:
    """Wait until a condition holds, up to the timeout; a failed connection is retried."""
    end = time.monotonic() + LONG

    def seen() -> bool:
        try:
            return look()
        except OSError:
            return False

    while not seen():
        assert process is None or process.poll() is None, f"ended while {what} was waited for"
        assert time.monotonic() < end, f"not within {LONG:.0f} s: {what}"
        time.sleep(0.1)


@pytest.fixture
def started() -> Iterator[Callable[..., Process]]:
    """Return a function that starts agents; kill those that still run at the end."""
    processes: list[Process] = []

    def start(*arguments: str, token: str | None = None) -> Process:
        processes.append(Process(*arguments, token=token))
        return processes[-1]

    yield start
    for each in processes:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()
        assert each.process.stderr is not None
        each.process.stderr.close()


@contextmanager
def hogs(count: int) -> Iterator[None]:
    """Run `count` low-priority processes that each use a whole core."""
    code = "import os; os.nice(19)\nwhile True: pass"
    running = [subprocess.Popen([sys.executable, "-S", "-c", code]) for _ in range(count)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


@dataclass(frozen=True)
class Contention:
    """A guard limit above the present load, and a number of hogs that goes far above it."""

    guard: float
    hogs: int


@pytest.fixture
def contention() -> Contention:
    """Measure the present contention of this machine."""
    observer, most = Observer(time.monotonic, time.time), 0.0
    observer.observe()
    for _ in range(10):
        time.sleep(0.5)
        most = max(most, observer.observe().ready)
    # The guard releases below half of its limit, which must be above the other load here.
    guard = 5.0 + 3.0 * most
    return Contention(guard, math.ceil((os.cpu_count() or 1) * (2.0 * guard + 2.0)))


RUN = ("run", "--listen", "127.0.0.1:0", "--every", "0.5")


@pytest.mark.slow
@pytest.mark.live
@pytest.mark.parametrize("policy", ["forewarn", "pronto"])
def test_accept_returns_503_only_while_hogs_run(started, contention, policy):
    agent = started(*RUN, "--policy", policy, "--guard", str(contention.guard))
    until(lambda: ask(agent.address, "/accept").status == 200, "acceptance at first", agent.process)
    with hogs(contention.hogs):
        until(lambda: ask(agent.address, "/accept").status == 503, "a rejection", agent.process)
    until(lambda: ask(agent.address, "/accept").status == 200, "acceptance", agent.process)
    page = shown(agent.address)
    assert page["windlass_rejected_steps_total"] >= 1.0
    assert agent.end() == 0


class Hello(BaseHTTPRequestHandler):
    """The server behind HAProxy."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        pass


PROXY = """
global
    stats socket {stats} mode 600 level admin
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
frontend here
    bind 127.0.0.1:{front}
    default_backend nodes
backend nodes
    server node 127.0.0.1:{back} weight 100 check inter 500ms agent-check agent-addr 127.0.0.1 agent-port {agent} \
agent-inter 500ms
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def server_state(stats: Path) -> dict[str, str]:
    """Return HAProxy's statistics of the server."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(stats))
        connection.sendall(b"show stat\n")
        text = connection.makefile().read()
    head, *lines = text.lstrip("# ").splitlines()
    rows = [dict(zip(head.split(","), line.split(","), strict=False)) for line in lines if line]
    return next(row for row in rows if (row["pxname"], row["svname"]) == ("nodes", "node"))


@pytest.mark.slow
@pytest.mark.live
@pytest.mark.parametrize(
    ("by", "drained"),
    [
        ("state", lambda server: server["status"].startswith("DRAIN")),
        ("weight", lambda server: server["weight"] == "0"),
    ],
    ids=["state", "weight"],
)
def test_haproxy_drains_and_restores_a_server_by_its_agent_check(started, contention, tmp_path, by, drained):
    binary = shutil.which("haproxy")
    if binary is None:
        pytest.skip("HAProxy is not installed (Debian: haproxy)")
    agent = started(*RUN, "--policy", "always", "--haproxy-by", by, "--guard", str(contention.guard))
    until(lambda: ask(agent.address, "/accept").status == 200, "acceptance at first", agent.process)
    backend = ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    threading.Thread(target=backend.serve_forever, daemon=True).start()
    stats, config, front = tmp_path / "stats", tmp_path / "haproxy.cfg", free_port()
    config.write_text(
        PROXY.format(stats=stats, front=front, back=backend.server_address[1], agent=agent.check.port)
    )
    proxy = subprocess.Popen([binary, "-db", "-f", str(config)], stderr=subprocess.DEVNULL)
    try:
        until(stats.exists, "HAProxy's socket")
        until(lambda: server_state(stats)["status"] == "UP", "a server that is up")
        until(lambda: ask(Address("127.0.0.1", front), "/").status == 200, "an answer")
        with hogs(contention.hogs):
            until(lambda: drained(server_state(stats)), "a server that is drained")
            until(lambda: ask(Address("127.0.0.1", front), "/").status == 503, "no server for new requests")
        until(lambda: server_state(stats)["status"] == "UP", "a server that is up again")
        until(lambda: int(server_state(stats)["weight"]) > 0, "weight")
        until(lambda: ask(Address("127.0.0.1", front), "/").status == 200, "an answer")
    finally:
        proxy.terminate()
        proxy.wait()
        backend.shutdown()
        backend.server_close()


@pytest.mark.slow
@pytest.mark.live
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_learned_state_survives_an_end_and_a_restart(started, tmp_path, by):
    state = tmp_path / "state"
    arguments = (
        "run",
        "--listen",
        "127.0.0.1:0",
        "--every",
        "0.05",
        "--policy",
        "forewarn",
        "--state",
        str(state),
        "--save-every",
        "0.5",
    )
    agent = started(*arguments)
    until(lambda: shown(agent.address).get("windlass_steps_total", 0.0) > 40.0, "steps", agent.process)
    until(state.exists, "a state", agent.process)
    status = agent.end(by)
    assert status == (0 if by == signal.SIGTERM else -signal.SIGKILL)
    before = opened(state.read_bytes())
    again = started(*arguments)
    until(lambda: shown(again.address).get("windlass_steps_total", 0.0) >= 1.0, "a step", again.process)
    # Directions are known before its first block is complete.
    assert shown(again.address)['windlass_singular_value{axis="0"}'] > 0.0
    assert not any("refused" in line for line in again.lines)
    assert opened(state.read_bytes()).metrics == before.metrics


@pytest.mark.slow
@pytest.mark.live
def test_two_agents_survive_a_restart_of_their_aggregator(started, tmp_path):
    port = free_port()
    above = ("aggregate", "--listen", f"127.0.0.1:{port}", "--state", str(tmp_path / "tree"))
    join = ("--join", f"http://127.0.0.1:{port}", "--join-every", "0.5")
    run = ("run", "--listen", "127.0.0.1:0", "--every", "0.05", "--policy", "forewarn")
    alone = started(*run, *join, "--name", "one", token=SECRET)
    alone.found("continuing without it")
    until(lambda: ask(alone.address, "/healthz").status == 200, "a step", alone.process)
    top = started(*above, token=SECRET)
    until(lambda: shown(top.address)["windlass_agents"] == 1.0, "an agent", top.process)
    alone.found("joined as one")
    top.end(signal.SIGKILL)
    until(lambda: shown(alone.address)["windlass_joined"] == 0.0, "its absence to be seen", alone.process)
    until(lambda: ask(alone.address, "/healthz").status == 200, "a step without it", alone.process)
    top = started(*above, token=SECRET)
    thief = started(*run, *join, "--name", "thief", token="another-token-entirely")
    thief.found("answered 401")
    newcomer = started(*run, *join, "--name", "two", token=SECRET)
    until(lambda: shown(top.address)["windlass_agents"] == 2.0, "both", top.process)
    assert shown(top.address)['windlass_refused_requests_total{why="token"}'] >= 1.0
    assert [each.end() for each in (newcomer, alone, top)] == [0, 0, 0]


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--listen", "9090"), "--listen is '9090'"),
        (("run", "--policy", "forwarn"), "did you mean 'forewarn'"),
        (("run", "--join", "http://127.0.0.1:1"), "no token"),
        (("aggregate",), "no token"),
        (("run", "--proc", "/nowhere"), "--proc: /nowhere/stat"),
        (("run", "--kubernetes", "taint", "--node", "a"), "KUBERNETES_SERVICE_HOST is not set"),
        (("aggregate", "--token-file", "/nowhere"), "/nowhere: cannot be read"),
    ],
)
def test_the_error_of_wrong_usage_is_one_line(arguments, message):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("WINDLASS_", "KUBERNETES_"))
    }
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env=environment)
    assert done.returncode == 2
    assert done.stderr.startswith("windlass: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
