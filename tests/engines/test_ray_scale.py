"""Nodes of a Ray cluster: snapshots of its status, and requested bundles."""

from __future__ import annotations

from types import SimpleNamespace as Thing

import numpy as np
import pytest

from windlass.engines.elastic.system import ClusterError
from windlass.engines.ray.scale import RayScale
from windlass.model.instances import InstanceType
from windlass.scale import Totals

TYPES = (InstanceType("small", cores=2, most=3), InstanceType("gpu", gpus=1, cores=4, memory=8e9, most=2))


def node(kind: str, number: str = "n", state: str = "RUNNING", cloud: str = "", **used: float) -> Thing:
    return Thing(
        ray_node_type_name=kind,
        node_id=number,
        node_status=state,
        instance_id=cloud,
        used_resources=lambda: used,
    )


def status(**more: object) -> Thing:
    empty = dict.fromkeys(("active_nodes", "idle_nodes", "pending_nodes", "pending_launches"), ())
    demands = Thing(ray_task_actor_demand=(), placement_group_demand=(), cluster_constraint_demand=())
    version = Thing(autoscaler_version="1")
    return Thing(**{**empty, "resource_demands": demands, "stats": version, **more})


def test_a_snapshot_counts_nodes_and_demand():
    wants = Thing(bundles_by_count=[Thing(bundle={"CPU": 1.0, "custom": 1.0}, count=2)])
    demands = Thing(
        ray_task_actor_demand=[wants],
        placement_group_demand=[],
        # Windlass's own requests are not demand.
        cluster_constraint_demand=[Thing(bundles_by_count=[Thing(bundle={"CPU": 9.0}, count=9)])],
    )
    found = status(
        active_nodes=[node("small", "a", CPU=1.5), node("gpu", "b", GPU=1.0, memory=2e9), node("head", "h")],
        idle_nodes=[node("small", "c")],
        pending_nodes=[node("small")],
        pending_launches=[Thing(ray_node_type_name="gpu", count=2)],
        resource_demands=demands,
    )
    times = iter([100.0, 150.0])
    system = RayScale(TYPES, lambda: found, lambda requested: None, now=lambda: next(times))
    seen = system.look()
    assert (seen.ready.tolist(), seen.coming.tolist(), seen.used.tolist()) == ([2, 1], [1, 2], [1, 1])
    assert seen.running.resources.tolist() == [[0.0, 1.5, 0.0], [1.0, 0.0, 2e9]]
    assert seen.waiting.resources.tolist() == [[0.0, 1.0, 0.0]] * 2
    # Busy since it was first seen busy.
    assert system.look().running.since.tolist() == [100.0, 100.0]
    assert np.isinf(seen.running.walltime).all()


def test_machines_have_the_names_of_the_cloud_or_of_ray_and_their_states():
    found = status(
        active_nodes=[
            node("small", "a", cloud="i-2", CPU=1.5),
            node("small", "b", "DRAINING", CPU=2.0),
            node("other", "c", CPU=2.0),
        ],
        idle_nodes=[node("gpu", "d", "IDLE", cloud="i-1")],
        pending_nodes=[node("gpu", "", cloud="i-0"), node("small", "")],
        pending_launches=[
            Thing(ray_node_type_name="small", count=2),
            Thing(ray_node_type_name="other", count=1),
        ],
    )
    seen = RayScale(TYPES, lambda: found, lambda requested: None, now=lambda: 0.0).look()
    assert [(each.name, each.row, each.state, each.held) for each in seen.machines] == [
        ("b", 0, "leaving", 2.0),
        ("i-2", 0, "up", 1.5),
        ("launch 5", 0, "starting", 0.0),
        ("launch 6", 0, "starting", 0.0),
        ("launch 7", 0, "starting", 0.0),
        ("i-0", 1, "starting", 0.0),
        ("i-1", 1, "up", 0.0),
    ]


def test_a_node_that_has_come_up_is_not_counted_as_starting():
    now = [0.0]
    pending = [node("small", "", cloud="1"), node("small", "", cloud="2"), node("gpu", "", cloud="3")]
    found = [status(idle_nodes=[node("small", "a")], pending_nodes=pending)]
    system = RayScale(TYPES, lambda: found[0], lambda requested: None, now=lambda: now[0])

    def counts():
        seen = system.look()
        starting = [each.row for each in seen.machines if each.state == "starting"]
        return seen.ready.tolist(), seen.coming.tolist(), starting

    assert counts() == ([1, 0], [2, 1], [0, 0, 1])
    # Node 1 is up as b, and the autoscaler has not reported since.
    up = [node("small", "a"), node("small", "b")]
    now[0], found[0] = 2.0, status(idle_nodes=up, pending_nodes=pending)
    assert counts() == ([2, 0], [1, 1], [0, 1])
    now[0] = 4.0
    assert counts() == ([2, 0], [1, 1], [0, 1])
    # It reports, and node 2 still starts.
    found[0] = status(idle_nodes=up, pending_nodes=pending[1:], stats=Thing(autoscaler_version="2"))
    assert counts() == ([2, 0], [1, 1], [0, 1])
    # A node that was not started by the autoscaler is counted like one of its nodes for a few seconds only.
    up.append(node("small", "c"))
    assert counts() == ([3, 0], [0, 1], [1])
    now[0] = 30.0
    assert counts() == ([3, 0], [1, 1], [0, 1])


def test_a_node_that_was_idle_counts_as_newly_busy():
    now, found = [0.0], [status(active_nodes=[node("small", "a", CPU=1.0)])]
    system = RayScale(TYPES, lambda: found[0], lambda requested: None, now=lambda: now[0])
    system.look()
    busy, found[0], now[0] = found[0], status(idle_nodes=[node("small", "a")]), 10.0
    system.look()
    found[0], now[0] = busy, 20.0
    assert system.look().running.since.tolist() == [20.0]


def test_requested_bundles_are_whole_nodes_up_to_the_maximum():
    requested = []
    system = RayScale(TYPES, status, requested.append)
    totals = Totals((5, 1), ("soon", "soon"))
    system.set_totals(totals, system.look())
    assert requested == [[{"CPU": 2.0}] * 3 + [{"GPU": 1.0, "CPU": 4.0, "memory": 8e9}]]
    nothing = Totals((0, 0), ("none", "none"))
    system.set_totals(nothing, system.look())
    assert requested[-1] == []
    assert system.describe(nothing, system.look()) == ["request_resources: nothing"]


@pytest.mark.parametrize("what", ["status", "request"])
def test_the_error_of_an_unreachable_cluster_is_one_line(what):
    def away(*_: object) -> None:
        raise TimeoutError("GCS\n  went away")

    system = RayScale(TYPES, away if what == "status" else status, away if what == "request" else print)
    with pytest.raises(ClusterError, match=r"Ray cluster does not .*: GCS went away"):
        system.set_totals(Totals((1, 1), ("a", "b")), system.look())
