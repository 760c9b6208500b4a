"""The autoscaler under the control plane, on an API server of the tests: with and without `--act`."""

from __future__ import annotations

import shutil
from contextlib import closing

import pytest

pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.control.test_scaling_engine import VirtualStop
from tests.engines.kubernetes.between import Between
from tests.engines.kubernetes.cluster import NODES, PODS, TYPES
from tests.engines.kubernetes.served import served_here
from tests.engines.kubernetes.things import kubeconfig, node, pod
from windlass.control.cluster_file import read_cluster
from windlass.control.engine import EngineStoppedError
from windlass.control.journal import JournalReader, JournalWriter
from windlass.control.site_status import HeldCores, status_from_text

CLUSTER = """
engines:
- engine: kubernetes
  types: types.yaml
  policy: reactive
  kubeconfig: config
  history: history.db
  lease: {lease}
"""


def test_nodes_are_shown_by_name_and_a_cordoned_one_as_drained(tmp_path):
    (tmp_path / "types.yaml").write_text(TYPES)
    (tmp_path / "cluster.yaml").write_text(CLUSTER.format(lease=0))
    with served_here(tmp_path) as served:
        server = served.cluster.server
        cordoned = {**node("a", "small"), "spec": {"unschedulable": True}}
        for each in (cordoned, node("b", "small"), node("c", "large", ready=False)):
            server.send("POST", NODES, each)
        server.send("POST", PODS, pod("runs", "3", "b"))
        shutil.copy(served.admin, tmp_path / "config")
        (engine,) = read_cluster(tmp_path / "cluster.yaml", acts=False, report=print).engines
        with JournalWriter(tmp_path / "journal.db") as journal, pytest.raises(EngineStoppedError):
            engine.run(journal, VirtualStop(1.0))
    with JournalReader(tmp_path / "journal.db") as reader:
        (view,) = reader.views()
    state = status_from_text(view.content)
    assert [(each.name, each.state, each.cores, each.idle, each.note) for each in state.machines] == [
        ("a", "drained", 4, 4, "type small"),
        ("b", "up", 4, 1, "type small"),
        ("c", "starting", 8, 8, "type large"),
    ]
    assert (state.cores, state.idle, state.held) == (4, 1, (HeldCores("small", 3),))


@pytest.mark.parametrize(("acts", "lease"), [(False, 15), (True, 0), (True, 15)])
def test_waiting_pods_are_decided_about_and_only_with_act_requested(tmp_path, acts, lease):
    (tmp_path / "types.yaml").write_text(TYPES)
    (tmp_path / "cluster.yaml").write_text(CLUSTER.format(lease=lease))
    with served_here(tmp_path) as served, closing(Between(served.upstream)) as between:
        served.cluster.submit(2)
        kubeconfig(tmp_path / "config", between.url, served.token)
        (engine,) = read_cluster(tmp_path / "cluster.yaml", acts=acts, report=print).engines
        with JournalWriter(tmp_path / "journal.db") as journal, pytest.raises(EngineStoppedError):
            engine.run(journal, VirtualStop(1.0))
        assert any(each.writes for each in between.all) is acts
        leases = [each for each in between.all if each.writes and "/leases" in each.path]
        assert bool(leases) is (acts and lease > 0)
        assert (sum(served.cluster.requested().values()) > 0) is acts
    with JournalReader(tmp_path / "journal.db") as reader:
        decisions, found = reader.decisions().rows, reader.acts().rows
        (seen,) = reader.engines()
    assert decisions
    assert {row.answer.startswith("would request") for row in decisions} == {not acts}
    assert [act.outcome for act in found] == (["requested"] if acts else [])
    assert (tmp_path / "history.db").exists() is acts
    assert seen.status.state == "running"
