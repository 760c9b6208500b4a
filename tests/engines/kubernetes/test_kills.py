"""`windlass k8s autoscale`, killed at random times and restarted: nothing is lost, other objects are unchanged."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager

import numpy as np
import pytest

pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.engines.kubernetes.between import Answer
from tests.engines.kubernetes.cluster import (
    BUFFERS,
    CORES,
    LABEL,
    MOST,
    NAMESPACE,
    NODES,
    PRIORITIES,
    TEMPLATES,
    Load,
    cores_of,
    kind_of,
    ours,
    used,
    waiting,
)
from tests.engines.kubernetes.served import environment, words
from tests.engines.kubernetes.things import kubeconfig
from tests.engines.starts import KUBERNETES, Starts
from windlass.engines.kubernetes.server import items
from windlass.engines.slurm.daemons import wait_until

pytestmark = pytest.mark.slow
PATIENCE = 300.0
KILLS = 100
PERIOD = 0.25
#: A season of five seconds, so that requests depend on the history.
POLICY = "{predictive: {forecaster: seasonal-naive, seasons: [5.0], ladder: [[0, 1], [3, 2]]}}"
ALL_PODS = "/api/v1/pods"


class Round:
    """One run of an autoscaler with a random end: at its nth request, or after some time."""

    def __init__(self, starts, between, rng):
        self.starts, self.between = starts, between
        self.since = len(between.all)
        self.how = str(rng.choice(["asked", "done", "later"]))
        self.at = self.since + int(rng.integers(1, 25))
        self.after = float(rng.uniform(0.0, 1.0))
        self.pid, self.begun, self.killed = 0, threading.Event(), threading.Event()

    def run(self, command, output):
        self.between.before, self.between.after = self._before, self._after
        self.pid = self.starts.start(command, output)
        self.begun.set()
        if self.how == "later":
            time.sleep(self.after)
            self._kill()
        assert self.starts.status() == -signal.SIGKILL, output.read_text()
        assert self.killed.is_set(), "it sent no more requests"

    def _before(self, requested):
        if self.how == "asked" and requested.number >= self.at:
            self._kill()
            return Answer(500, b"")
        return None

    def _after(self, requested):
        if self.how == "done" and requested.number >= self.at:
            self._kill()

    def _kill(self):
        assert self.begun.wait(PATIENCE)
        if not self.killed.is_set():
            self.killed.set()
            os.kill(self.pid, signal.SIGKILL)


def looks(between, since):
    """Yield each pair of lists, and the next request, before which it must have been recorded."""
    requested = between.all[since:]
    path = [each.path.partition("?")[0] for each in requested]
    for at in range(len(requested) - 1):
        answers = [between.answers.get(each.number) for each in requested[at : at + 2]]
        if path[at : at + 2] == [NODES, ALL_PODS] and None not in answers:
            after = requested[at + 2] if at + 2 < len(requested) else None
            yield requested[at + 1], after, *(json.loads(answer.body)["items"] for answer in answers)


def history_rows(file, folder):
    """Return counts by bucket, from a copy, so that the file stays unchanged for the next run."""
    folder.mkdir(exist_ok=True)
    for each in file.parent.glob(f"{file.name}*"):
        shutil.copy(each, folder)
    with closing(sqlite3.connect(folder / file.name)) as copy:
        assert copy.execute("pragma integrity_check").fetchone() == ("ok",)
        table = copy.execute("select count(*) from sqlite_master where name = 'needed'").fetchone()
        rows = copy.execute("select bucket, type, count from needed").fetchall() if table[0] else []
    shutil.rmtree(folder)
    found = {}
    for bucket, name, count in rows:
        found.setdefault(bucket, {})[name] = count
    return found


def needed(pods):
    """Instances that pods with a node need, in fractions."""
    found = dict.fromkeys(CORES, 0.0)
    for each in pods:
        if each["spec"].get("nodeName"):
            kind = kind_of(cores_of(each))
            found[kind] += cores_of(each) / CORES[kind]
    return found


def check_history(between, since, before, after):
    """Check that no row is lost, and that each poll that led to a request is recorded."""
    for bucket in before:
        # The latest row may have been overwritten by a poll in the same period.
        assert after[bucket] == before[bucket] or bucket == max(before)
    for listed, then, _, pods in looks(between, since):
        if then is not None:
            buckets = range(math.floor(listed.at / PERIOD), math.floor(then.at / PERIOD) + 1)
            assert any(after.get(bucket) == pytest.approx(needed(pods)) for bucket in buckets)


def check_writes(between, since):
    """Check that only Windlass's objects are written, with enough spare nodes for waiting pods."""
    mine = {path.format(NAMESPACE) for path in (BUFFERS, TEMPLATES)} | {PRIORITIES}
    seen = list(looks(between, since))
    for requested, _ in between.written(since):
        folder, _, name = requested.path.rpartition("/")
        made = requested.method == "POST"
        assert made or (requested.method == "PATCH" and folder == BUFFERS.format(NAMESPACE)), requested
        assert (requested.path if made else folder) in mine
        name = requested.tree["metadata"]["name"] if made else name
        assert name in {"windlass-placeholder", *(f"windlass-{kind}" for kind in CORES)}
        assert not made or ours(requested.tree)
        replicas = requested.tree.get("spec", {}).get("replicas")
        if replicas is not None:
            kind = name.removeprefix("windlass-")
            nodes, pods = next(
                rest for listed, _, *rest in reversed(seen) if listed.number < requested.number
            )
            taken, wait = used(nodes, pods)[kind], math.ceil(waiting(pods)[kind] / CORES[kind])
            assert min(wait, MOST[kind] - taken) <= replicas <= MOST[kind] - taken, (requested, taken, wait)


def check_objects(cluster):
    """Check that Windlass's objects are complete, and that each buffer's template exists."""
    templates = {
        each["metadata"]["name"]: each for each in items(cluster.server, TEMPLATES.format(NAMESPACE))
    }
    for kind in CORES:
        for each in items(cluster.server, BUFFERS.format(NAMESPACE)):
            if each["metadata"]["name"] != f"windlass-{kind}":
                continue
            assert ours(each)
            assert each["metadata"]["annotations"]["windlass/why"]
            template = templates[each["spec"]["podTemplateRef"]["name"]]["template"]
            assert template["spec"]["nodeSelector"] == {LABEL: kind}
            assert cores_of(template) == CORES[kind]
            assert template["spec"]["priorityClassName"] == "windlass-placeholder"


@contextmanager
def never_killed(command):
    """Run an autoscaler of another namespace that is never killed."""
    started = subprocess.Popen(
        [sys.executable, "-m", "windlass", *command], env=environment(), stderr=subprocess.PIPE, text=True
    )
    try:
        yield started
    finally:
        started.terminate()
        assert "the requests remain" in started.communicate(timeout=PATIENCE)[1]
        assert started.returncode == 130


def others(cluster):
    """Create objects of another owner in the namespace."""
    inside = {
        "metadata": {"labels": {"of": "them"}},
        "spec": {"containers": [{"name": "main", "image": "main"}]},
    }
    buffer = {"apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer", "spec": {"replicas": 3}}
    template = {"apiVersion": "v1", "kind": "PodTemplate", "template": inside}
    for path, body in ((BUFFERS, buffer), (TEMPLATES, template)):
        body["metadata"] = {"name": "theirs", "namespace": NAMESPACE}
        cluster.server.send("POST", path.format(NAMESPACE), body)
    return [f"{path.format(NAMESPACE)}/theirs" for path in (BUFFERS, TEMPLATES)]


def test_an_autoscaler_killed_100_times_requests_as_one_that_is_never_killed(served, between, tmp_path):
    rng, cluster = np.random.default_rng(13), served.cluster
    load = Load(cluster, rng)
    config = kubeconfig(tmp_path / "config", between.url, served.token)
    command, output = words(config, tmp_path, NAMESPACE, POLICY, PERIOD), tmp_path / "said"
    theirs = {path: cluster.server.get(path) for path in others(cluster)}
    history, before = tmp_path / f"{NAMESPACE}.db", {}
    with (
        Starts(environment(), KUBERNETES) as starts,
        never_killed(words(served.admin, tmp_path, "never", POLICY, PERIOD)),
    ):
        for _ in range(KILLS):
            load.change()
            life = Round(starts, between, rng)
            life.run(command, output)
            after = history_rows(history, tmp_path / "copy")
            check_history(between, life.since, before, after)
            check_writes(between, life.since)
            check_objects(cluster)
            before = after
            cluster.follow()
        assert len(before) >= KILLS / 4
        between.before, between.after = (lambda requested: None), (lambda requested: None)
        last = len(between.all)
        pid = starts.start(command, output)

        def settled():
            cluster.follow()
            latest = max((requested.number for requested, _ in between.written(last)), default=last)
            return len(between.all) > latest + 100 and cluster.requested() == cluster.requested("never")

        assert wait_until(settled, PATIENCE)
        os.kill(pid, signal.SIGTERM)
        assert starts.status() == 130
    assert "Traceback" not in output.read_text()
    assert {path: cluster.server.get(path) for path in theirs} == theirs
