"""`windlass k8s drive`, killed while it releases 200 Jobs: each is resumed once, in the order of the policy."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import closing

import numpy as np
import pytest

pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.engines.kubernetes.between import Answer, Between
from tests.engines.kubernetes.job_cluster import JobCluster, jobs_path
from tests.engines.kubernetes.served import environment
from tests.engines.kubernetes.things import kubeconfig
from tests.engines.starts import JOBS, Starts
from windlass.engines.batch.entries import Decided
from windlass.engines.kubernetes.jobs.journal import JobJournal, Resuming, read_job_journal

pytestmark = pytest.mark.slow
PATIENCE = 300.0
COUNT, KILLS = 200, 20
NODES = (4, 4, 4, 4)


class Round:
    """One run of a driver with a random end: at its nth request or write, or after some time."""

    def __init__(self, starts, between, rng):
        self.starts, self.between = starts, between
        self.how = str(rng.choice(["before a request", "before a write", "after a write", "later"]))
        self.left, self.after = int(rng.integers(5, 30)), float(rng.uniform(1.2, 2.0))
        self.pid, self.begun, self.killed = 0, threading.Event(), threading.Event()

    def run(self, command, output):
        self.between.before, self.between.after = self._before, self._after
        self.pid = self.starts.start(command, output)
        self.begun.set()
        if self.how == "later":
            time.sleep(self.after)
            self._kill()
        status = self.starts.status()
        self.between.before, self.between.after = (lambda requested: None), (lambda requested: None)
        assert status == -signal.SIGKILL, output.read_text()

    def _before(self, requested):
        counts = self.how == "before a request" or (self.how == "before a write" and requested.writes)
        if counts and self._is_last():
            self._kill()
            return Answer(0, b"")
        return None

    def _after(self, requested):
        if self.how == "after a write" and requested.writes and self._is_last():
            self._kill()

    def _is_last(self):
        self.left -= 1
        return self.left == 0

    def _kill(self):
        assert self.begun.wait(PATIENCE)
        if not self.killed.is_set():
            self.killed.set()
            os.kill(self.pid, signal.SIGKILL)


def filled(rng):
    """Return a cluster with suspended Jobs; three of them are not the driver's."""
    cluster = JobCluster(time.time, NODES)
    for number in range(COUNT):
        run, pods = float(rng.uniform(0.1, 0.4)), int(rng.integers(1, 5))
        cluster.submit(f"j{number:03}", run, pods, limit=int(rng.integers(10, 100)))
    cluster.submit("own", 1.0, queue=False)
    cluster.submit("kueue", 1.0)
    cluster.edit(f"{jobs_path('lab')}/kueue", {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "q"}}})
    cluster.submit("again", 1.0)
    cluster.edit(
        f"{jobs_path('lab')}/again",
        {"metadata": {"annotations": {"windlass/released": "2026-01-01T00:00:00Z"}}},
    )
    return cluster


def test_a_driver_killed_20_times_releases_each_job_once_in_order(tmp_path):
    rng = np.random.default_rng(7)
    cluster, journal, output = filled(rng), tmp_path / "journal", tmp_path / "said"
    output.touch()
    with closing(Between(cluster)) as between, Starts(environment(), JOBS) as starts:
        config = kubeconfig(tmp_path / "config", between.url)
        options = ("--kubeconfig", str(config), "--journal", str(journal), "--look", "0.05", "--lease", "1")
        command = ["k8s", "drive", "--policies", "order=fcfs", *options]
        for _ in range(KILLS):
            Round(starts, between, rng).run(command, output)
        assert len(cluster.resumptions()) < COUNT, "the kills came too late to matter"
        starts.start([*command, "--until-idle"], output)
        assert starts.status() == 0, output.read_text()
    assert "Traceback" not in output.read_text()
    wanted = [f"lab/j{number:03}" for number in range(COUNT)]
    assert cluster.resumptions() == wanted
    assert not any(each.suspended for each in cluster.history)
    assert cluster.ended == dict.fromkeys(wanted, 1)
    jobs = cluster.jobs()
    assert [name for name in ("own", "kueue", "again") if not jobs[f"lab/{name}"]["spec"]["suspend"]] == []
    check_journal(journal, wanted)


def check_journal(path, wanted):
    """Check that each release was decided and announced before, and that none is left without an outcome."""
    entries = read_job_journal(path)
    decided, announced = set(), set()
    for entry in entries:
        if isinstance(entry, Decided):
            decided |= set(entry.jobs)
        if isinstance(entry, Resuming):
            assert entry.job in decided
            announced.add(entry.job)
    assert announced == set(wanted)
    with JobJournal(path) as journal:
        assert (journal.notices, dict(journal.resuming)) == ((), {})
