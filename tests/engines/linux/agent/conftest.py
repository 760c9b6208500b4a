"""Nodes after some steps, servers on free ports, and manual clocks."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from windlass.admit import AdmitView
from windlass.agent.envelope import digest
from windlass.agent.node import AgentNode, decide, make_node
from windlass.agent.options import Address
from windlass.agent.token import Token

DIM = 6
NAMES = tuple(f"metric.{at}" for at in range(DIM))
METRICS = digest(NAMES)
SECRET = "a-secret-of-the-tree"
#: Timeout (s), long enough for a machine with three times the work it can do.
PATIENCE = 300.0


class Clock:
    """A clock that advances only when the test sets it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def token() -> Token:
    return Token(SECRET)


def views(count: int, seed: int = 1, dim: int = DIM) -> list[AdmitView]:
    """Steps of a node with correlated metrics and occasional spikes of CPU Ready."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(dim, 2))
    found = []
    for at in range(count):
        metrics = mixed @ rng.normal(size=2) + 0.1 * rng.normal(size=dim)
        found.append(AdmitView(float(at), metrics, 0.5, 0.5 if at % 30 > 25 else 0.01))
    return found


def seen(name: str, steps: int = 60, seed: int = 1, dim: int = DIM) -> AgentNode:
    """A node under a policy, after some steps."""
    node = make_node(name, dim, np.random.default_rng(seed))
    for view in views(steps, seed, dim):
        decide(node, view)
    return node


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


def ask(
    address: Address,
    path: str,
    method: str = "GET",
    body: bytes | None = None,
    token: str | None = None,
) -> Reply:
    """Send one request and return the reply."""
    connection = http.client.HTTPConnection(address.host, address.port, timeout=PATIENCE)
    try:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return Reply(answer.status, answer.read())
    finally:
        connection.close()


def shown(address: Address) -> dict[str, float]:
    """Return the numbers of a Prometheus page, by name and labels."""
    lines = (line.rsplit(" ", 1) for line in ask(address, "/metrics").text.splitlines() if line[:1] != "#")
    return {name: float(value) for name, value in lines}


def first_difference(one: dict[str, float], other: dict[str, float]) -> str:
    """Return the differing numbers of two pages, for messages of tests."""
    return json.dumps(
        {name: (one.get(name), other.get(name)) for name in one | other if one.get(name) != other.get(name)}
    )


@pytest.fixture
def served() -> Iterator[Callable[..., Address]]:
    """Starts web servers, and closes them at the end."""
    web = pytest.importorskip("windlass.agent.web", reason="the extra `agent` is not installed")
    servers = []

    def serve(answering, refusals=None) -> Address:
        server = web.WebServer(Address("127.0.0.1", 0), answering, refusals or web.Refusals())
        servers.append(server)
        return server.address

    yield serve
    for server in servers:
        server.close()
