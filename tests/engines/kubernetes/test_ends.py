"""`windlass k8s autoscale`, ended by each signal at random instants, or by a full disk: what it kept is there."""

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
from tests.engines.kubernetes.test_kills import check_history, check_objects, check_writes, kept
from tests.engines.kubernetes.things import kubeconfig
from tests.engines.starts import KUBERNETES, Starts
from windlass.engines.slurm.daemons import wait_until

pytestmark = pytest.mark.slow
PATIENCE = 300.0
#: How often it is ended, by each of these in turn; WINDLASS_KILLS asks for more, and has it printed how.
KILLS = kills()
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
PERIOD = 0.25
POLICY = "{predictive: {forecaster: seasonal-naive, seasons: [5.0], ladder: [[0, 1], [3, 2]]}}"
STANDS = "windlass: interrupted; the requests remain"


@pytest.fixture
def starts():
    with Starts(environment(), KUBERNETES) as found:
        yield found


@pytest.fixture
def between(served):
    """What an autoscaler asks goes through it."""
    with closing(Between(served.upstream)) as found:
        yield found


def only_line(text):
    """The one line that says what ended it."""
    (line,) = (each for each in text.splitlines() if each.startswith("windlass: "))
    return line


def test_it_is_ended_by_each_signal_and_all_it_kept_is_there(served, between, starts, tmp_path, capsys):
    rng, ends, load = np.random.default_rng(18), Counter(), Load(served.cluster, np.random.default_rng(19))
    config = kubeconfig(tmp_path / "config", between.url, served.token)
    command, said = words(config, tmp_path, NAMESPACE, POLICY, PERIOD), tmp_path / "said"
    history, before = tmp_path / f"{NAMESPACE}.db", {}
    for number in range(KILLS):
        load.change()
        since, by = len(between.all), SIGNALS[number % len(SIGNALS)]
        said.write_text("")
        pid = starts.start(command, said)
        if number % 4:
            # However long it takes to begin, most are to be at work.
            asked = since + int(rng.integers(1, 12))
            assert wait_until(lambda asked=asked: len(between.all) > asked, PATIENCE), said.read_text()
        time.sleep(float(rng.uniform(0.0, 0.3)))
        os.kill(pid, by)
        status = starts.status()
        ends[by.name, status] += 1
        # Until it has begun, a request to terminate ends it as it ends any program.
        assert status in {signal.SIGKILL: (-by,), signal.SIGTERM: (130, -by), signal.SIGINT: (130,)}[by]
        if status == 130:
            expected = (STANDS,) if by == signal.SIGTERM else (STANDS, "windlass: interrupted")
            assert only_line(said.read_text()) in expected
        assert "Traceback" not in said.read_text()
        after = kept(history, tmp_path / "copy")
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


def test_on_a_full_disk_it_ends_with_a_line_and_all_it_kept_is_there(served, starts, tmp_path):
    said = tmp_path / "said"
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
            """It runs until it has kept so many rows more."""
            wanted = rows() + more
            pid = starts.start(command, said)
            assert wait_until(lambda: rows() >= wanted, PATIENCE), said.read_text()
            os.kill(pid, signal.SIGTERM)
            assert starts.status() == 130

        worked(3)
        before, asked = kept(history, tmp_path / "copy"), served.cluster.asked()
        said.write_text("")
        with filled(disk):
            starts.start(command, said)
            assert starts.status() == 2, said.read_text()
            assert f"{history}: " in only_line(said.read_text())
            assert kept(history, tmp_path / "copy") == before
            assert served.cluster.asked() == asked
        worked(3)
        after = kept(history, tmp_path / "copy")
        # The latest may have been written over by a look in the same period.
        assert all(after[bucket] == before[bucket] or bucket == max(before) for bucket in before)
        assert names(disk) == {history.name, "types.yaml"}
