"""`windlass k8s autoscale`, killed at any instant and started again: nothing is lost, nothing is anybody else's."""

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
#: Looks at days of five seconds, so that what it asks for depends on what it kept.
POLICY = "{predictive: {forecaster: seasonal-naive, seasons: [5.0], ladder: [[0, 1], [3, 2]]}}"
ALL_PODS = "/api/v1/pods"


class Round:
    """One life of an autoscaler, which ends as it was drawn: at its nth request, or after a while."""

    def __init__(self, starts, between, rng):
        self.starts, self.between = starts, between
        self.since = len(between.all)
        self.how = str(rng.choice(["asked", "done", "later"]))
        self.at = self.since + int(rng.integers(1, 25))
        self.after = float(rng.uniform(0.0, 1.0))
        self.pid, self.begun, self.killed = 0, threading.Event(), threading.Event()

    def run(self, command, said):
        self.between.before, self.between.after = self._before, self._after
        self.pid = self.starts.start(command, said)
        self.begun.set()
        if self.how == "later":
            time.sleep(self.after)
            self._kill()
        assert self.starts.status() == -signal.SIGKILL, said.read_text()
        assert self.killed.is_set(), "it asked for nothing more"

    def _before(self, asked):
        if self.how == "asked" and asked.number >= self.at:
            self._kill()
            return Answer(500, b"")
        return None

    def _after(self, asked):
        if self.how == "done" and asked.number >= self.at:
            self._kill()

    def _kill(self):
        assert self.begun.wait(PATIENCE)
        if not self.killed.is_set():
            self.killed.set()
            os.kill(self.pid, signal.SIGKILL)


def looks(between, since):
    """Each pair of lists, and the request after it, by which it must have been kept."""
    asked = between.all[since:]
    path = [each.path.partition("?")[0] for each in asked]
    for at in range(len(asked) - 1):
        answers = [between.answers.get(each.number) for each in asked[at : at + 2]]
        if path[at : at + 2] == [NODES, ALL_PODS] and None not in answers:
            after = asked[at + 2] if at + 2 < len(asked) else None
            yield asked[at + 1], after, *(json.loads(answer.body)["items"] for answer in answers)


def kept(file, folder):
    """Bucket to counts, from a copy, so that whoever comes next finds the file as the killed one left it."""
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
    """No row that was kept is gone, and each look that was acted on is kept."""
    for bucket in before:
        # The latest may have been written over by a look in the same period.
        assert after[bucket] == before[bucket] or bucket == max(before)
    for listed, then, _, pods in looks(between, since):
        if then is not None:
            buckets = range(math.floor(listed.at / PERIOD), math.floor(then.at / PERIOD) + 1)
            assert any(after.get(bucket) == pytest.approx(needed(pods)) for bucket in buckets)


def check_writes(between, since):
    """Only objects of ours, by their names; and as many as those who wait need, beside those in use."""
    mine = {path.format(NAMESPACE) for path in (BUFFERS, TEMPLATES)} | {PRIORITIES}
    seen = list(looks(between, since))
    for asked, _ in between.written(since):
        folder, _, name = asked.path.rpartition("/")
        made = asked.method == "POST"
        assert made or (asked.method == "PATCH" and folder == BUFFERS.format(NAMESPACE)), asked
        assert (asked.path if made else folder) in mine
        name = asked.tree["metadata"]["name"] if made else name
        assert name in {"windlass-placeholder", *(f"windlass-{kind}" for kind in CORES)}
        assert not made or ours(asked.tree)
        replicas = asked.tree.get("spec", {}).get("replicas")
        if replicas is not None:
            kind = name.removeprefix("windlass-")
            nodes, pods = next(rest for listed, _, *rest in reversed(seen) if listed.number < asked.number)
            taken, wait = used(nodes, pods)[kind], math.ceil(waiting(pods)[kind] / CORES[kind])
            assert min(wait, MOST[kind] - taken) <= replicas <= MOST[kind] - taken, (asked, taken, wait)


def check_objects(cluster):
    """All of ours are whole, and each buffer has what it refers to."""
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
    """The same for somebody else, whom nobody kills."""
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
    """Objects in our namespace that are none of ours."""
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


def test_killed_a_hundred_times_it_asks_for_what_one_does_whom_nobody_kills(served, between, tmp_path):
    rng, cluster = np.random.default_rng(13), served.cluster
    load = Load(cluster, rng)
    config = kubeconfig(tmp_path / "config", between.url, served.token)
    command, said = words(config, tmp_path, NAMESPACE, POLICY, PERIOD), tmp_path / "said"
    theirs = {path: cluster.server.get(path) for path in others(cluster)}
    history, before = tmp_path / f"{NAMESPACE}.db", {}
    with (
        Starts(environment(), KUBERNETES) as starts,
        never_killed(words(served.admin, tmp_path, "never", POLICY, PERIOD)),
    ):
        for _ in range(KILLS):
            load.change()
            life = Round(starts, between, rng)
            life.run(command, said)
            after = kept(history, tmp_path / "copy")
            check_history(between, life.since, before, after)
            check_writes(between, life.since)
            check_objects(cluster)
            before = after
            cluster.follow()
        assert len(before) >= KILLS / 4
        between.before, between.after = (lambda asked: None), (lambda asked: None)
        last = len(between.all)
        pid = starts.start(command, said)

        def settled():
            cluster.follow()
            latest = max((asked.number for asked, _ in between.written(last)), default=last)
            return len(between.all) > latest + 100 and cluster.asked() == cluster.asked("never")

        assert wait_until(settled, PATIENCE)
        os.kill(pid, signal.SIGTERM)
        assert starts.status() == 130
    assert "Traceback" not in said.read_text()
    assert {path: cluster.server.get(path) for path in theirs} == theirs
