"""`windlass ray autoscale`, ended at any time, or with an unreachable head: used nodes stay requested."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, contextmanager

import numpy as np
import pytest

from tests.kills import PRINTED, kills

pytest.importorskip("ray", reason="needs the package ray")

from tests.engines.kubernetes.served import environment
from tests.engines.starts import RAY, Starts
from tests.engines.test_ray_scale_live import PATIENCE, TYPES, Load, autoscaled, free_port, joined
from windlass.engines.elastic.system import ClusterError
from windlass.engines.ray.cluster import processes_of
from windlass.engines.ray.scale import connected
from windlass.engines.slurm.daemons import wait_until
from windlass.model import InputError

#: One in reserve, as there is no day of history.
POLICY = "{predictive: {forecaster: naive, ladder: [[0, 1]]}}"
#: Number of ends, by each signal in turn; WINDLASS_KILLS sets more.
KILLS = kills()
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
AWAY, BACK = "does not answer", "the cluster answers again"
#: Ray waits 30 s for a head that accepts connections without answering.
IMPATIENT = {"RAY_py_gcs_connect_timeout_s": "2", "RAY_gcs_rpc_server_connect_timeout_s": "1"}


class Scaled:
    """A cluster, with the output and history of its autoscaler."""

    def __init__(self, folder, port):
        self.folder, self.port, self.output = folder, port, folder / "said"
        self.output.touch()
        types = folder / "types.json"
        kinds = [{"name": each.name, "cores": each.cores, "most": each.most} for each in TYPES]
        types.write_text(json.dumps({"types": kinds}))
        named = {
            "types": types,
            "address": f"127.0.0.1:{port}",
            "history": folder / "history.db",
            "period": 0.5,
            "policy": POLICY,
        }
        self.words = ["ray", "autoscale"]
        self.words += [part for name, value in named.items() for part in (f"--{name}", str(value))]

    def requested(self):
        """Return the number of nodes requested from Ray."""
        from ray.autoscaler.v2.sdk import get_cluster_status

        demands = get_cluster_status(f"127.0.0.1:{self.port}").resource_demands.cluster_constraint_demand
        return sum(each.count for demand in demands for each in demand.bundles_by_count)

    def count(self, text):
        """Return the number of output lines with the text."""
        return sum(text in line for line in self.output.read_text().splitlines())

    def rows(self):
        """Return the rows of the history."""
        with closing(sqlite3.connect(self.folder / "history.db")) as file:
            assert file.execute("pragma integrity_check").fetchone() == ("ok",)
            there = file.execute("select count(*) from sqlite_master where name = 'needed'").fetchone()[0]
            return dict(file.execute("select bucket, count from needed").fetchall()) if there else {}

    @contextmanager
    def running(self):
        """Run an autoscaler that is not killed."""
        command = [sys.executable, "-m", "windlass", *self.words]
        with open(self.output, "a") as output:
            process = subprocess.Popen(
                command, env={**environment(), **IMPATIENT}, stdout=output, stderr=output
            )
        try:
            yield
            assert process.poll() is None, self.output.read_text()
        finally:
            process.terminate()
            status = process.wait(PATIENCE)
        assert status == 130, self.output.read_text()


@pytest.fixture
def scaled(tmp_path):
    return Scaled(tmp_path, free_port())


def kill_and_start(scaled, check):
    """Kill and restart it repeatedly at random times; return the counts of exit statuses."""
    rng, before, ends = np.random.default_rng(5), {}, Counter()
    with Starts({**environment(), **IMPATIENT}, RAY) as starts:
        for number in range(KILLS):
            pid = starts.start(scaled.words, scaled.output)
            if number % 2:
                # Some runs are ended only after they have started work.
                assert wait_until(lambda before=before: scaled.rows() != before, PATIENCE)
            time.sleep(float(rng.uniform(0.0, 1.0)))
            by = SIGNALS[number // 2 % len(SIGNALS)]
            os.kill(pid, by)
            status = starts.status()
            # Before it has started, SIGTERM ends it like any program.
            assert status in ((-by,) if by == signal.SIGKILL else (130, -by)), scaled.output.read_text()
            if status == 130:
                assert scaled.output.read_text().splitlines()[-1].startswith("windlass: interrupted")
            ends[by.name, status] += 1
            after = scaled.rows()
            # The latest row may have been overwritten by a poll in the same period.
            assert all(after[at] == before[at] or at == max(before) for at in before)
            before = after
            check()
    assert before
    return ends


@pytest.mark.slow
def test_used_nodes_stay_requested_through_kills_and_outages(scaled, tmp_path, capsys):
    load = Load(tmp_path)
    with (
        autoscaled(scaled.port) as folder,
        connected(f"127.0.0.1:{scaled.port}", TYPES) as system,
        joined(scaled.port),
    ):

        def used(count):
            return int(system.look().used[0]) == count

        def unchanged():
            assert scaled.requested() == 3
            assert used(2)

        load.begin()
        with scaled.running():
            assert wait_until(lambda: scaled.requested() == 3 and used(2), PATIENCE)
        ends = kill_and_start(scaled, unchanged)
        with scaled.running():
            away(scaled, folder)
            unchanged()
            load.end()
            assert wait_until(lambda: scaled.requested() == 1 and used(0), PATIENCE)
            assert wait_until(lambda: int(system.look().ready[0]) == 1, PATIENCE)
    assert "Traceback" not in scaled.output.read_text()
    assert {status for _, status in ends} >= {-signal.SIGKILL, 130}
    if PRINTED:
        with capsys.disabled():
            print(f"\nray autoscale, ended {KILLS} times: {dict(ends)}")


def away(scaled, folder):
    """Suspend the head for a while."""
    assert wait_until(lambda: scaled.count("in total") > 0, PATIENCE)
    (head,) = [each for each in processes_of(str(folder)) if each.name() == "gcs_server"]
    before = scaled.count(AWAY)
    head.suspend()
    try:
        assert wait_until(lambda: scaled.count(AWAY) >= before + 2, PATIENCE)
    finally:
        head.resume()
    assert wait_until(lambda: scaled.count(BACK) > 0, PATIENCE)


@pytest.mark.slow
def test_a_restarted_head_at_the_same_address_is_scaled_again(scaled):
    def requested():
        try:
            return scaled.requested()
        except Exception:
            return None

    with scaled.running():
        for _ in range(2):
            before = scaled.count(AWAY)
            assert wait_until(lambda before=before: scaled.count(AWAY) > before, PATIENCE)
            with autoscaled(scaled.port):
                assert wait_until(lambda: requested() == 1, PATIENCE)


def test_an_unreachable_head_is_named_at_once():
    with connected("127.0.0.1:1", TYPES) as system, pytest.raises(ClusterError) as error:
        system.look()
    assert str(error.value) == "the Ray cluster does not answer: 127.0.0.1:1: Connection refused"


@pytest.mark.parametrize("address", ["here", "127.0.0.1", ":6379", "a:b", "a:99999", "auto"])
def test_an_invalid_address_is_an_error(address):
    with pytest.raises(InputError, match="expected a host and a port"), connected(address, TYPES):
        pass
