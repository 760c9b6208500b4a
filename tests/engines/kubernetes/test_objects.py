"""Written objects, complete, and each writing request."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.kubernetes.strict import Strict
from windlass.engines.elastic.system import ClusterError, ClusterSnapshot
from windlass.engines.kubernetes import objects
from windlass.engines.kubernetes.headroom import SpareNodes
from windlass.engines.kubernetes.server import MissingError
from windlass.engines.kubernetes.snapshot import TYPE_LABEL
from windlass.engines.kubernetes.system import KubernetesScale, spare_counts
from windlass.model.instances import InstanceType
from windlass.scale import Demands, Totals

SMALL = InstanceType("small", cores=1.9, memory=7e9, most=9)


LARGE = InstanceType("Big.LARGE", gpus=2, cores=8, memory=64e9, most=5)


BARE = InstanceType("bare", memory=3e9, most=2)


KINDS = {"small": SMALL, "Big.LARGE": LARGE, "bare": BARE}


OURS = {"app.kubernetes.io/managed-by": "windlass"}


ASKS = {
    "small": {"cpu": "1900m", "memory": "7000000000"},
    "Big.LARGE": {"cpu": "8000m", "memory": "64000000000", "nvidia.com/gpu": "2"},
    "bare": {"memory": "3000000000"},
}

#: Kubernetes refuses a request of an extended resource without an equal limit.
LIMITS = {"small": {}, "Big.LARGE": {"limits": {"nvidia.com/gpu": "2"}}, "bare": {}}


NAMES = {"small": "windlass-small", "Big.LARGE": "windlass-big-large", "bare": "windlass-bare"}


VERSIONS = pytest.mark.parametrize("version", ["", "v1beta1", "v2"])


def pods(kind, **labels):
    """Return the placeholder pod of a spare instance: of its size, sleeping, and evicted at once."""
    return {
        "metadata": {"labels": {**OURS, **labels}},
        "spec": {
            "nodeSelector": {"pool": kind},
            "priorityClassName": "windlass-placeholder",
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "containers": [
                {
                    "name": "sleeper",
                    "image": "registry.k8s.io/pause:3.10",
                    "resources": {"requests": ASKS[kind], **LIMITS[kind]},
                }
            ],
        },
    }


def without_shape(tree):
    """Return the object without its shape annotation, and the shape."""
    tree = copy.deepcopy(tree)
    return tree, tree["metadata"]["annotations"].pop("windlass/shape")


@pytest.mark.parametrize("kind", ["small", "Big.LARGE", "bare"])
@pytest.mark.parametrize("version", ["v1beta1", "v2"])
def test_a_buffer_and_its_template_are_complete(version, kind):
    server = Strict(version)
    SpareNodes(server, "windlass", "pool").set([KINDS[kind]], [3], ["soon"])
    assert set(server.of("CapacityBuffer")) == {NAMES[kind]}
    buffer = server.of("CapacityBuffer")[NAMES[kind]]
    assert buffer["metadata"] == {
        "name": NAMES[kind],
        "namespace": "windlass",
        "labels": OURS,
        "annotations": {"windlass/why": "soon"},
    }
    assert buffer["spec"] == {"podTemplateRef": {"name": NAMES[kind]}, "replicas": 3}
    template, shape = without_shape(server.of("PodTemplate")[NAMES[kind]])
    assert template["metadata"] == {
        "name": NAMES[kind],
        "namespace": "windlass",
        "labels": OURS,
        "annotations": {},
    }
    assert template["template"] == pods(kind)
    assert shape.startswith(f"pool={kind} ")
    assert server.of("Deployment") == {}


@pytest.mark.parametrize("kind", ["small", "Big.LARGE", "bare"])
def test_a_deployment_is_complete(kind):
    server = Strict("")
    SpareNodes(server, "windlass", "pool").set([KINDS[kind]], [3], ["soon"])
    found, shape = without_shape(server.of("Deployment")[NAMES[kind]])
    holds = {"windlass/holds": NAMES[kind]}
    assert found["metadata"] == {
        "name": NAMES[kind],
        "namespace": "windlass",
        "labels": OURS,
        "annotations": {"windlass/why": "soon"},
    }
    assert found["spec"] == {
        "replicas": 3,
        "selector": {"matchLabels": holds},
        "template": pods(kind, **holds),
    }
    assert shape.startswith(f"pool={kind} ")
    assert server.of("PodTemplate") == {}


def test_placeholders_have_the_lowest_priority_and_never_preempt():
    server = Strict()
    SpareNodes(server, "windlass", "pool").set([], [], [])
    (found,) = server.of("PriorityClass").values()
    assert (found["metadata"], found["value"]) == ({"name": "windlass-placeholder", "labels": OURS}, -10)
    assert (found["globalDefault"], found["preemptionPolicy"]) == (False, "Never")


def test_a_shape_is_a_line_of_all_requests():
    line = "image=registry.k8s.io/pause:3.10"
    assert objects.shape(SMALL, "pool") == f"pool=small cpu=1900m memory=7000000000 {line}"
    gpus = "nvidia.com/gpu=2"
    assert objects.shape(LARGE, "a") == f"a=Big.LARGE cpu=8000m memory=64000000000 {gpus} {line}"


def test_object_names_are_valid_in_kubernetes():
    def named(name):
        return objects.object_name(InstanceType(name, cores=1))

    assert named("Standard_D4s.v5") == "windlass-standard-d4s-v5"
    assert named("größe²") == "windlass-gr--e"
    assert named("x" * 54) == "windlass-" + "x" * 54
    assert named("x" * 55) == "windlass-" + "x" * 54
    assert named("x" * 53 + "." + "y") == "windlass-" + "x" * 53


changes = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["small", "Big.LARGE", "bare"]), unique=True, max_size=3),
        st.lists(st.integers(0, 3), min_size=3, max_size=3),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=40, deadline=None)
@given(changes=changes, version=st.sampled_from(["", "v1beta1"]))
def test_only_differences_are_written(changes, version):
    server = Strict(version)
    spares, before = SpareNodes(server, "windlass", "pool"), {}
    made = ["CapacityBuffer", "PodTemplate"] if version else ["Deployment"]
    first = ["windlass-placeholder"]
    for kinds, counts in changes:
        server.written.clear()
        now = dict(zip(kinds, counts, strict=False))
        spares.set([KINDS[kind] for kind in kinds], counts[: len(kinds)], [f"why {kind}" for kind in kinds])
        want = [("POST", name, None) for name in first]
        for kind, count in now.items():
            if kind not in before:
                if version:
                    want.append(("POST", NAMES[kind], None))
                want.append(("POST", NAMES[kind], count))
            elif before[kind] != count:
                want.append(("PATCH", NAMES[kind], count))
        want += [("DELETE", NAMES[kind], None) for kind in before if kind not in now for _ in made]
        assert sorted(server.written, key=str) == sorted(want, key=str)
        for of in made:
            assert set(server.of(of)) == {NAMES[kind] for kind in now}
        replicas = {name: tree["spec"]["replicas"] for name, tree in server.of(made[0]).items()}
        assert replicas == {NAMES[kind]: count for kind, count in now.items()}
        first, before = [], now


@pytest.mark.parametrize("version", ["", "v1beta1"])
def test_a_reason_is_written_with_each_count(version):
    server = Strict(version)
    spares = SpareNodes(server, "windlass", "pool")
    for count, why in ((1, "first"), (2, "second")):
        spares.set([SMALL], [count], [why])
        (found,) = server.of("CapacityBuffer" if version else "Deployment").values()
        assert found["metadata"]["annotations"]["windlass/why"] == why


@pytest.mark.parametrize("version", ["", "v1beta1"])
def test_a_change_of_shape_recreates_the_object_with_the_current_count(version):
    server = Strict(version)
    SpareNodes(server, "windlass", "pool").set([SMALL, BARE], [2, 1], ["so", "so"])
    server.written.clear()
    larger = InstanceType("small", cores=3, most=9)
    SpareNodes(server, "windlass", "pool").set([larger, BARE], [1, 1], ["so", "so"])
    name = NAMES["small"]
    if version:
        assert server.written == [("DELETE", name, None), ("POST", name, None), ("PATCH", name, 1)]
    else:
        assert server.written == [("DELETE", name, None), ("POST", name, 1)]


@VERSIONS
def test_a_dry_run_names_each_object_and_writes_nothing(version):
    server = Strict(version)
    kind = "CapacityBuffer" if version else "Deployment"
    assert SpareNodes(server, "windlass", "pool").describe([SMALL, LARGE], [2, 0]) == [
        f"{kind} windlass/windlass-small: 2 spare",
        f"{kind} windlass/windlass-big-large: 0 spare",
    ]
    assert server.written == []


@pytest.mark.parametrize("group", [{}, {"preferredVersion": None}, {"preferredVersion": {"version": ""}}])
def test_without_a_preferred_version_v1beta1_is_used(group):
    server = Strict("v1beta1")
    get = server.get
    server.get = lambda path: group if path == "/apis/autoscaling.x-k8s.io" else get(path)
    SpareNodes(server, "windlass", "pool").set([SMALL], [1], ["so"])
    assert set(server.of("CapacityBuffer")) == {"windlass-small"}


def test_a_forbidden_check_for_buffers_is_an_error():
    server = Strict("")
    get = server.get

    def forbidden(path):
        if path == "/apis/autoscaling.x-k8s.io":
            raise ClusterError("forbidden")
        return get(path)

    server.get = forbidden
    with pytest.raises(ClusterError, match="forbidden") as error:
        SpareNodes(server, "windlass", "pool").set([SMALL], [1], ["so"])
    assert not isinstance(error.value, MissingError)
    assert server.written == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=2))
def test_spare_is_the_total_less_used_instances_and_at_least_0(pairs):
    none = np.zeros(2, np.int64)
    used = np.array([each for _, each in pairs])
    seen = ClusterSnapshot(none + 9, none + 1, used, Demands.none(), Demands.none())
    counts = tuple(total for total, _ in pairs)
    want = [total - each if total > each else 0 for total, each in pairs]
    assert spare_counts(Totals(counts, ("so", "so")), seen) == want
    server = Strict()
    system = KubernetesScale(server, (SMALL, LARGE), label="pool")
    assert [line.split(": ")[1] for line in system.describe(Totals(counts, ("so", "so")), seen)] == [
        f"{count} spare" for count in want
    ]
    system.set_totals(Totals(counts, ("this", "that")), seen)
    found = [server.of("CapacityBuffer")[NAMES[kind]] for kind in ("small", "Big.LARGE")]
    assert [each["spec"]["replicas"] for each in found] == want
    assert [each["metadata"]["annotations"]["windlass/why"] for each in found] == ["this", "that"]


def test_the_default_type_label_of_nodes_is_the_standard_one():
    server = Strict()
    system = KubernetesScale(server, (SMALL,))
    assert TYPE_LABEL == "node.kubernetes.io/instance-type"
    seen = ClusterSnapshot(*np.zeros((3, 1), np.int64), Demands.none(), Demands.none())
    system.set_totals(Totals((1,), ("so",)), seen)
    template = server.of("PodTemplate")["windlass-small"]["template"]
    assert template["spec"]["nodeSelector"] == {"node.kubernetes.io/instance-type": "small"}
    assert system.types == (SMALL,)
    assert system.remove() == [
        "CapacityBuffer windlass-small",
        "PodTemplate windlass-small",
        "PriorityClass windlass-placeholder",
    ]
