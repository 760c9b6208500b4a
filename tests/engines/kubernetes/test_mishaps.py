"""An unreachable, refusing or truncating server: no request is reduced, and all recovers afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.engines.kubernetes.between import Answer, Between
from tests.engines.kubernetes.cluster import NAMESPACE, Cluster
from tests.engines.kubernetes.served import environment, served_here, words
from tests.engines.kubernetes.things import kubeconfig, node, pod
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.server import ApiServer, items
from windlass.engines.slurm.daemons import wait_until

PATIENCE = 300.0
#: Two of each type in reserve, as there is no day of history.
POLICY = "{predictive: {forecaster: naive, ladder: [[0, 2]]}}"
AGAIN, BACK = "retrying in", "the cluster answers again"


@dataclass(frozen=True)
class Fault:
    """The injected answer (None: connection refused), the message for users, and whether only writes fail."""

    answer: Answer | None
    message: str
    writes: bool = False


def error_answer(status, message):
    return Answer(status, json.dumps({"message": message}).encode())


FAULTS = {
    "away": Fault(None, "does not answer"),
    "hangs up": Fault(Answer(0, b""), "does not answer"),
    "forbidden": Fault(
        error_answer(403, "nodes is forbidden"), "is forbidden: nodes is forbidden; see deploy/kubernetes"
    ),
    "who asks is not known": Fault(error_answer(401, "Unauthorized"), "authentication failed: Unauthorized"),
    "broken": Fault(Answer(500, b"<html>"), "failed with status 500: no reason given"),
    "too many ask": Fault(error_answer(429, "slow down"), "failed with status 429: slow down"),
    "not up yet": Fault(error_answer(503, "starting"), "failed with status 503: starting"),
    "cut off": Fault(Answer(200, b'{"items": [{"meta', 4000), "does not answer"),
    "half of JSON": Fault(Answer(200, b'{"items": [{"meta'), "the response is not JSON"),
    "nothing": Fault(Answer(200, b""), "the response is not a list"),
    "null": Fault(Answer(200, b"null"), "the response is not an object"),
    "no items": Fault(Answer(200, b'{"items": null}'), "the response is not a list"),
    "items that are none": Fault(
        Answer(200, b'{"items": [null]}'), "lists an item that is not an object with metadata"
    ),
    "conflict": Fault(error_answer(409, "it was changed"), "failed with status 409: it was changed", True),
    "read-only": Fault(error_answer(403, "no writing"), "is forbidden: no writing", True),
    "write broken": Fault(Answer(500, b""), "failed with status 500", True),
}


@dataclass(frozen=True)
class Life:
    """A running autoscaler."""

    cluster: Cluster
    between: Between
    file: Path

    def lines(self) -> list[str]:
        """Return its output lines."""
        return self.file.read_text().splitlines()

    def count(self, text: str) -> int:
        """Return the number of lines that contain the text."""
        return sum(text in line for line in self.lines())


@pytest.fixture(scope="module")
def life(tmp_path_factory):
    """An autoscaler of a cluster with two nodes in use and no waiting pods."""
    folder = tmp_path_factory.mktemp("life")
    with served_here(folder) as served, closing(Between(served.upstream)) as between:
        for name in ("a", "b"):
            served.cluster.server.send("POST", "/api/v1/nodes", node(name, "small"))
            served.cluster.server.send(
                "POST", "/api/v1/namespaces/default/pods", pod(f"on-{name}", "3", name)
            )
        config = kubeconfig(folder / "config", between.url)
        command = [sys.executable, "-m", "windlass", *words(config, folder, NAMESPACE, POLICY, 0.25)]
        with open(folder / "said", "w") as file:
            process = subprocess.Popen(command, env=environment(), stdout=file, stderr=file)
        try:
            yield Life(served.cluster, between, folder / "said")
        finally:
            process.terminate()
            assert process.wait(PATIENCE) == 130
    assert "Traceback" not in (folder / "said").read_text()


@contextmanager
def faulty(between, fault):
    """Inject a fault within the context."""
    if fault.answer is None:
        between.close()
    else:
        between.before = lambda requested: fault.answer if requested.writes or not fault.writes else None
    try:
        yield
    finally:
        between.before = lambda requested: None
        if fault.answer is None:
            between.back()


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_during_a_fault_no_request_is_reduced_and_afterwards_the_need_is_met(life, name):
    fault, cluster, between = FAULTS[name], life.cluster, life.between
    assert wait_until(lambda: cluster.requested() == {"small": 2, "large": 2}, PATIENCE)
    failed, back, since = life.count(AGAIN), life.count(BACK), len(between.all)
    with ExitStack() as waiting:
        with faulty(between, fault):
            for _ in range(2):
                waiting.callback(cluster.end, cluster.submit(3))
            assert wait_until(lambda: life.count(AGAIN) >= failed + 4, PATIENCE)
            assert cluster.requested() == {"small": 2, "large": 2}
            assert between.written(since) == []
            message = [line for line in life.lines() if AGAIN in line][failed:]
            assert all(fault.message in line for line in message), message
        # Each waiting pod needs more than half of a node.
        assert wait_until(lambda: cluster.requested() == {"small": 4, "large": 2}, PATIENCE)
        assert all(requested.tree["spec"]["replicas"] >= 2 for requested, _ in between.written(since))
        assert wait_until(lambda: life.count(BACK) > back, PATIENCE)


@pytest.fixture
def slow(tmp_path):
    """A server, a client with a timeout of 2 s, and a patient client."""
    with served_here(tmp_path) as served, closing(Between(served.upstream)) as between:
        config = kubeconfig(tmp_path / "config", between.url)
        yield between, ApiServer(str(config), patience=2.0), ApiServer(str(config), patience=PATIENCE)


@pytest.mark.slow
def test_an_endless_answer_times_out(slow):
    between, server, patient = slow
    between.before = lambda requested: Answer(200, b'{"items": [', 10**9, drips=True)
    with pytest.raises(ClusterError, match=r"does not answer: the response was not complete in time"):
        list(items(server, "/api/v1/nodes"))
    between.before = lambda requested: None
    assert list(items(patient, "/api/v1/nodes")) == []


@pytest.mark.slow
def test_a_missing_answer_times_out(slow):
    between, server, patient = slow
    gone = threading.Event()

    def wait(requested):
        gone.wait(PATIENCE)

    between.before = wait
    with pytest.raises(ClusterError, match="timed out"):
        list(items(server, "/api/v1/nodes"))
    gone.set()
    assert list(items(patient, "/api/v1/nodes")) == []


def test_a_list_with_an_expired_page_is_an_error(slow):
    between, _, patient = slow
    first = Answer(200, b'{"items": [{"metadata": {"name": "a"}}], "metadata": {"continue": "more"}}')
    between.before = lambda requested: (
        error_answer(410, "too old") if "continue=more" in requested.path else first
    )
    with pytest.raises(ClusterError, match="failed with status 410: too old"):
        list(items(patient, "/api/v1/nodes"))
