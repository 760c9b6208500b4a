"""An API server that is down for a minute: no request is reduced, no used node is removed, and all recovers."""

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
def output(served, between, tmp_path):
    """The output file of a running autoscaler."""
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
    """Check that all jobs run on existing nodes, with the full reserve."""

    def done():
        cluster.follow()
        there = {each["metadata"]["name"] for each in cluster.nodes()}
        running = sum(bool(each["spec"].get("nodeName")) for each in cluster.pods())
        return running == jobs and in_use(cluster) <= there and cluster.requested() == SPARE

    return wait_until(done, PATIENCE)


def test_an_outage_of_a_minute_changes_nothing(served, between, output):
    cluster = served.cluster
    for _ in range(3):
        cluster.submit(3)
    assert settled(cluster, 3), output.read_text()
    held, since = in_use(cluster), len(between.all)
    with served.away():
        time.sleep(DOWN)
    assert wait_until(lambda: "the cluster answers again" in output.read_text(), PATIENCE)
    retries = [line for line in output.read_text().splitlines() if "retrying in" in line]
    # A real server that starts prints other lines, too.
    assert sum("does not answer" in line for line in retries) >= 4, retries
    # No pod arrived or ended, so there was nothing to write.
    assert between.written(since) == []
    assert cluster.requested() == SPARE
    for _ in range(2):
        cluster.submit(3)
    assert wait_until(lambda: cluster.requested()["small"] == 4, PATIENCE), output.read_text()
    assert settled(cluster, 5), output.read_text()
    assert held <= in_use(cluster)
    assert all(requested.tree["spec"]["replicas"] >= 2 for requested, _ in between.written(since))
