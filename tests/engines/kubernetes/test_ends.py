"""`windlass k8s autoscale`, ended by each signal at random times, or by a full disk: its history is kept."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing

import numpy as np
import pytest

from tests.kills import PRINTED, kills

pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.disks import filled, names, small_disk
from tests.engines.kubernetes.between import Between
from tests.engines.kubernetes.cluster import NAMESPACE, Load
from tests.engines.kubernetes.served import environment, words
from tests.engines.kubernetes.test_kills import check_history, check_objects, check_writes, history_rows
from tests.engines.kubernetes.things import kubeconfig
from tests.engines.starts import KUBERNETES, Starts
from windlass.engines.slurm.daemons import wait_until

pytestmark = pytest.mark.slow
PATIENCE = 300.0
#: Number of ends, by each signal in turn; WINDLASS_KILLS sets more, and prints them.
KILLS = kills()
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
PERIOD = 0.25
POLICY = "{predictive: {forecaster: seasonal-naive, seasons: [5.0], ladder: [[0, 1], [3, 2]]}}"
INTERRUPTED = "windlass: interrupted; the requests remain"


@pytest.fixture
def starts():
    with Starts(environment(), KUBERNETES) as found:
        yield found


@pytest.fixture
def between(served):
    """The proxy of an autoscaler's requests."""
    with closing(Between(served.upstream)) as found:
        yield found


def only_line(text):
    """Return the one line that states the cause of the end."""
    (line,) = (each for each in text.splitlines() if each.startswith("windlass: "))
    return line


def test_ended_by_each_signal_the_history_is_kept(served, between, starts, tmp_path, capsys):
    rng, ends, load = np.random.default_rng(18), Counter(), Load(served.cluster, np.random.default_rng(19))
    config = kubeconfig(tmp_path / "config", between.url, served.token)
    command, output = words(config, tmp_path, NAMESPACE, POLICY, PERIOD), tmp_path / "said"
    history, before = tmp_path / f"{NAMESPACE}.db", {}
    for number in range(KILLS):
        load.change()
        since, by = len(between.all), SIGNALS[number % len(SIGNALS)]
        output.write_text("")
        pid = starts.start(command, output)
        if number % 4:
            # Most runs are ended only after they have started work.
            requested = since + int(rng.integers(1, 12))
            assert wait_until(lambda requested=requested: len(between.all) > requested, PATIENCE), (
                output.read_text()
            )
        time.sleep(float(rng.uniform(0.0, 0.3)))
        os.kill(pid, by)
        status = starts.status()
        ends[by.name, status] += 1
        # Before it has started, SIGTERM ends it like any program.
        assert status in {signal.SIGKILL: (-by,), signal.SIGTERM: (130, -by), signal.SIGINT: (130,)}[by]
        if status == 130:
            expected = (INTERRUPTED,) if by == signal.SIGTERM else (INTERRUPTED, "windlass: interrupted")
            assert only_line(output.read_text()) in expected
        assert "Traceback" not in output.read_text()
        after = history_rows(history, tmp_path / "copy")
        check_history(between, since, before, after)
        check_writes(between, since)
        check_objects(served.cluster)
        before = after
        served.cluster.follow()
    assert before
    if PRINTED:
        with capsys.disabled():
            print(f"\nk8s autoscale, ended {KILLS} times:")
            for (name, status), times in sorted(ends.items()):
                print(f"  {name}, status {status}: {times}")


def test_on_a_full_disk_it_ends_with_one_line_and_the_history_is_kept(served, starts, tmp_path):
    output = tmp_path / "said"
    Load(served.cluster, np.random.default_rng(19)).change()
    with small_disk(tmp_path / "disk", 2**22) as disk:
        history = disk / f"{NAMESPACE}.db"
        command = words(served.admin, disk, NAMESPACE, POLICY, PERIOD)

        def rows():
            if not history.exists():
                return 0
            with closing(sqlite3.connect(history)) as file:
                there = file.execute("select count(*) from sqlite_master where name = 'needed'").fetchone()[0]
                return file.execute("select count(distinct bucket) from needed").fetchone()[0] if there else 0

        def worked(more):
            """Run until `more` rows were added."""
            wanted = rows() + more
            pid = starts.start(command, output)
            assert wait_until(lambda: rows() >= wanted, PATIENCE), output.read_text()
            os.kill(pid, signal.SIGTERM)
            assert starts.status() == 130

        worked(3)
        before, requested = history_rows(history, tmp_path / "copy"), served.cluster.requested()
        output.write_text("")
        with filled(disk):
            starts.start(command, output)
            assert starts.status() == 2, output.read_text()
            assert f"{history}: " in only_line(output.read_text())
            assert history_rows(history, tmp_path / "copy") == before
            assert served.cluster.requested() == requested
        worked(3)
        after = history_rows(history, tmp_path / "copy")
        # The latest row may have been overwritten by a poll in the same period.
        assert all(after[bucket] == before[bucket] or bucket == max(before) for bucket in before)
        assert names(disk) == {history.name, "types.yaml"}
