"""An API server that is down for a minute: nothing is asked for less, no node in use goes, all comes about after it."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.engines.kubernetes.cluster import NAMESPACE
from tests.engines.kubernetes.served import environment, words
from tests.engines.kubernetes.things import kubeconfig
from windlass.engines.slurm.daemons import wait_until

pytestmark = pytest.mark.slow
PATIENCE, DOWN = 300.0, 60.0
#: Two of each type in reserve, as there is no day of history.
POLICY = "{predictive: {forecaster: naive, ladder: [[0, 2]]}}"
SPARE = {"small": 2, "large": 2}


@pytest.fixture
def said(served, between, tmp_path):
    """Where an autoscaler says what it does, which is at work."""
    config = kubeconfig(tmp_path / "config", between.url, served.token)
    command = [sys.executable, "-m", "windlass", *words(config, tmp_path, NAMESPACE, POLICY, 0.5)]
    file = tmp_path / "said"
    with open(file, "w") as written:
        process = subprocess.Popen(command, env=environment(), stdout=written, stderr=written)
    try:
        yield file
    finally:
        process.terminate()
        status = process.wait(PATIENCE)
    assert status == 130, file.read_text()
    assert "Traceback" not in file.read_text()


def in_use(cluster):
    """Names of nodes that hold a pod."""
    return {each["spec"]["nodeName"] for each in cluster.pods() if each["spec"].get("nodeName")}


def settled(cluster, jobs):
    """All of them run, on nodes that are there, and as many nodes as ever are in reserve."""

    def done():
        cluster.follow()
        there = {each["metadata"]["name"] for each in cluster.nodes()}
        running = sum(bool(each["spec"].get("nodeName")) for each in cluster.pods())
        return running == jobs and in_use(cluster) <= there and cluster.asked() == SPARE

    return wait_until(done, PATIENCE)


def test_down_for_a_minute(served, between, said):
    cluster = served.cluster
    for _ in range(3):
        cluster.submit(3)
    assert settled(cluster, 3), said.read_text()
    held, since = in_use(cluster), len(between.all)
    with served.away():
        time.sleep(DOWN)
    assert wait_until(lambda: "the cluster answers again" in said.read_text(), PATIENCE)
    told = [line for line in said.read_text().splitlines() if "retrying in" in line]
    # A real one that comes up says other things, too.
    assert sum("does not answer" in line for line in told) >= 4, told
    # Nobody came or went, so there was nothing to write.
    assert between.written(since) == []
    assert cluster.asked() == SPARE
    for _ in range(2):
        cluster.submit(3)
    assert wait_until(lambda: cluster.asked()["small"] == 4, PATIENCE), said.read_text()
    assert settled(cluster, 5), said.read_text()
    assert held <= in_use(cluster)
    assert all(asked.tree["spec"]["replicas"] >= 2 for asked, _ in between.written(since))
