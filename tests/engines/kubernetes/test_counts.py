"""Counts of random nodes and pods, against a plain loop."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.kubernetes.things import pod
from windlass.engines.kubernetes.snapshot import cluster_snapshot
from windlass.model import InputError
from windlass.model.instances import InstanceType

TYPES = (InstanceType("small", cores=4, most=10), InstanceType("large", cores=8, gpus=1, most=10))
NOW = 1767225600.0
STANDARD = "node.kubernetes.io/instance-type"
QUARTER_OF_AN_HOUR = 900


def stamp(age):
    return datetime.fromtimestamp(NOW - age, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


ages = st.sampled_from([None, 0, 1, 899, 900, 901, 5000])
conditions = st.none() | st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["Ready", "MemoryPressure"]), "status": st.sampled_from(["True", "False"])}
    ),
    max_size=2,
)
nodes = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["small", "large", "large", "other", None]),
        "age": ages,
        "conditions": conditions,
        "leaves": st.sampled_from(["", "", "", "cordoned", "deleted"]),
    }
)
pods = st.fixed_dictionaries(
    {
        "on": st.none() | st.integers(0, 5),
        "cores": st.integers(1, 4),
        "age": st.integers(0, 50),
        "deadline": st.none() | st.integers(1, 99),
        "phase": st.sampled_from([None, "Running", "Running", "Succeeded", "Failed"]),
        "kind": st.sampled_from(["job", "job", "job", "daemon", "ours"]),
    }
)


def node_tree(number, node, label):
    meta = {"name": f"n{number}"}
    if node["kind"] is not None:
        meta["labels"] = {label: node["kind"], "other": "small"}
    if node["age"] is not None:
        meta["creationTimestamp"] = stamp(node["age"])
    tree = {"metadata": meta}
    if node["conditions"] is not None:
        tree["status"] = {"conditions": node["conditions"]}
    if node["leaves"] == "cordoned":
        tree["spec"] = {"unschedulable": True}
    if node["leaves"] == "deleted":
        meta["deletionTimestamp"] = stamp(0)
    return tree


def pod_tree(number, each):
    more = {"creationTimestamp": stamp(each["age"])}
    if each["kind"] == "daemon":
        more["ownerReferences"] = [{"kind": "DaemonSet", "name": "d"}]
    if each["kind"] == "ours":
        more["labels"] = {"app.kubernetes.io/managed-by": "windlass"}
    tree = pod(f"p{number}", str(each["cores"]), None if each["on"] is None else f"n{each['on']}", **more)
    if each["phase"] is not None:
        tree["status"] = {"phase": each["phase"]}
    if each["deadline"] is not None:
        tree["spec"]["activeDeadlineSeconds"] = each["deadline"]
    return tree


def as_rows(demands):
    rows = zip(demands.since.tolist(), demands.walltime.tolist(), demands.resources.tolist(), strict=True)
    return list(rows)


@settings(max_examples=100, deadline=None)
@given(
    of=st.lists(nodes, max_size=6), on=st.lists(pods, max_size=8), label=st.sampled_from([STANDARD, "type"])
)
def test_counts_of_nodes_and_pods_equal_a_plain_loop(of, on, label):
    found = cluster_snapshot(
        TYPES,
        iter([node_tree(number, each, label) for number, each in enumerate(of)]),
        iter([pod_tree(number, each) for number, each in enumerate(on)]),
        label,
        NOW,
    )
    counts = {name: {"small": 0, "large": 0} for name in ("ready", "coming", "used")}
    live = [each for each in on if each["kind"] == "job" and each["phase"] not in ("Succeeded", "Failed")]
    for number, node in enumerate(of):
        if node["kind"] not in ("small", "large") or node["leaves"]:
            continue
        holds = any(each["on"] == number for each in live)
        ready = {"type": "Ready", "status": "True"} in (node["conditions"] or [])
        counts["used"][node["kind"]] += holds
        counts["ready"][node["kind"]] += holds or ready
        young = node["age"] is None or node["age"] < QUARTER_OF_AN_HOUR
        counts["coming"][node["kind"]] += not holds and not ready and young
    for name, of_types in counts.items():
        assert getattr(found, name).tolist() == [of_types["small"], of_types["large"]]

    def rows(chosen):
        unsorted = [
            (NOW - each["age"], float(each["deadline"] or np.inf), [0.0, float(each["cores"]), 0.0])
            for each in chosen
        ]
        # Pods created at the same time stay in the order of the list.
        return sorted(unsorted, key=lambda row: row[0])

    ours = {number for number, node in enumerate(of) if node["kind"] in ("small", "large")}
    assert as_rows(found.waiting) == rows([each for each in live if each["on"] is None])
    assert as_rows(found.running) == rows([each for each in live if each["on"] in ours])


def test_a_node_without_labels_is_not_counted():
    found = cluster_snapshot(
        TYPES, [{}, {"metadata": {"name": "a"}}, {"metadata": {"name": "b", "labels": None}}], []
    )
    assert (found.ready.tolist(), found.coming.tolist()) == ([0, 0], [0, 0])


def test_a_node_without_a_status_counts_as_launching():
    found = cluster_snapshot(TYPES, [{"metadata": {"name": "a", "labels": {STANDARD: "large"}}}], [], now=NOW)
    assert (found.ready.tolist(), found.coming.tolist()) == ([0, 0], [0, 1])


def test_a_pod_with_an_invalid_quantity_is_named():
    with pytest.raises(InputError, match="pod default/web: container 'main': cpu: 'x' is not a quantity"):
        cluster_snapshot(TYPES, [], [pod("web", "x")])
