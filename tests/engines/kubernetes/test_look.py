"""Nodes that count as ready, launching, in use, or not at all."""

from __future__ import annotations

import pytest

from tests.engines.kubernetes.things import node, pod
from windlass.engines.kubernetes.snapshot import STARTS_WITHIN_S, cluster_snapshot
from windlass.model.instances import InstanceType

TYPES = (InstanceType("small", cores=4, most=10),)
MADE = 1767225600.0


def counted(*, busy, ready=True, age=0.0, **more):
    """Return the counts of one node: ready, launching and in use, and its used cores."""
    one = node("a", "small", ready)
    one["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    one["metadata"].update(more.get("metadata", {}))
    one["spec"] = more.get("spec", {})
    found = cluster_snapshot(TYPES, [one], [pod("runs", "3", "a")] if busy else [], now=MADE + age)
    return [int(each[0]) for each in (found.ready, found.coming, found.used)], found.running.resources.sum()


def test_each_node_has_its_state_and_the_cores_that_its_pods_request():
    made = {"creationTimestamp": "2026-01-01T00:00:00Z"}
    ready, not_ready = {"status": node("", "")["status"]}, {"status": node("", "", False)["status"]}
    nodes = {
        "away": not_ready,
        "cordoned": {**ready, "spec": {"unschedulable": True}},
        "gone": {**ready, "metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},
        "new": {**not_ready, "metadata": {"creationTimestamp": "2026-01-01T01:00:00Z"}},
        "never": not_ready,
        "ready": ready,
    }
    objects = [node(name, "small") for name in sorted(nodes, reverse=True)]
    for each in objects:
        more = nodes[each["metadata"]["name"]]
        each["metadata"].update(made | more.get("metadata", {}))
        each["status"], each["spec"] = more["status"], more.get("spec", {})
    pods = [
        pod("a", "3", "away"),
        pod("b", "1500m", "cordoned"),
        pod("c", "1", "cordoned"),
        pod("d", "2", "other"),
        pod("e", "1"),
    ]
    found = cluster_snapshot(TYPES, [*objects, node("other", "large")], pods, now=MADE + 3600.0)
    assert [(each.name, each.row, each.state, each.held) for each in found.machines] == [
        ("away", 0, "unreachable", 3.0),
        ("cordoned", 0, "drained", 2.5),
        ("gone", 0, "leaving", 0.0),
        ("never", 0, "down", 0.0),
        ("new", 0, "starting", 0.0),
        ("ready", 0, "up", 0.0),
    ]


def test_a_ready_node_counts_as_ready():
    assert counted(busy=False) == ([1, 0, 0], 0.0)
    assert counted(busy=True) == ([1, 0, 1], 3.0)


def test_a_starting_node_counts_as_launching_for_15_minutes():
    assert counted(busy=False, ready=False, age=STARTS_WITHIN_S - 1.0) == ([0, 1, 0], 0.0)
    assert counted(busy=False, ready=False, age=STARTS_WITHIN_S) == ([0, 0, 0], 0.0)


@pytest.mark.parametrize("age", [1.0, 1e6])
def test_an_unreachable_node_with_a_job_is_in_use(age):
    # Counted as launching, it would be requested a second time, as spare.
    assert counted(busy=True, ready=False, age=age) == ([1, 0, 1], 3.0)


@pytest.mark.parametrize("busy", [True, False])
@pytest.mark.parametrize(
    "leaves", [{"spec": {"unschedulable": True}}, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}]
)
def test_a_cordoned_node_offers_no_room_but_its_jobs_count(busy, leaves):
    assert counted(busy=busy, **leaves) == ([0, 0, 0], 3.0 * busy)
