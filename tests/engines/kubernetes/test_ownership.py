"""Objects of other owners are left unchanged, and all of Windlass's are deleted."""

from __future__ import annotations

import copy

import pytest

from tests.engines.kubernetes.strict import Strict
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.headroom import SpareNodes
from windlass.model.instances import InstanceType

SMALL = InstanceType("small", cores=1.9, memory=7e9, most=9)


LARGE = InstanceType("Big.LARGE", gpus=2, cores=8, memory=64e9, most=5)


THEIRS = {"metadata": {"name": "windlass-small"}, "spec": {"replicas": 7}, "template": {}}


@pytest.mark.parametrize(
    ("version", "collection", "kind"),
    [
        ("", "deployments", "Deployment"),
        ("v1beta1", "capacitybuffers", "CapacityBuffer"),
        ("v1beta1", "podtemplates", "PodTemplate"),
    ],
)
def test_an_object_of_the_name_without_the_label_is_an_error(version, collection, kind):
    server = Strict(version)
    server.put(collection, copy.deepcopy(THEIRS))
    before = copy.deepcopy(server.of(kind))
    message = f"{kind} windlass-small is not Windlass's: it lacks the label .*=windlass; left unchanged"
    with pytest.raises(ClusterError, match=message):
        SpareNodes(server, "windlass", "pool").set([SMALL], [2], ["so"])
    SpareNodes(server, "windlass", "pool").set([], [], [])
    assert server.of(kind) == before


def test_a_priority_class_of_the_name_without_the_label_is_an_error():
    server = Strict()
    server.put("priorityclasses", {"metadata": {"name": "windlass-placeholder"}, "value": 10})
    with pytest.raises(ClusterError, match="PriorityClass windlass-placeholder is not Windlass's"):
        SpareNodes(server, "windlass", "pool").set([SMALL], [2], ["so"])
    assert server.written == []


@pytest.mark.parametrize("version", ["", "v1beta1"])
def test_exactly_windlass_s_objects_are_deleted_and_reported(version):
    server = Strict(version)
    spares = SpareNodes(server, "windlass", "pool")
    spares.set([SMALL, LARGE], [1, 2], ["so", "so"])
    theirs = {"metadata": {"name": "theirs"}, "spec": {"replicas": 1}}
    for collection in ("deployments", "podtemplates", "priorityclasses"):
        server.put(collection, copy.deepcopy(theirs))
    gone = spares.remove()
    made = ["CapacityBuffer", "PodTemplate"] if version else ["Deployment"]
    names = ["windlass-small", "windlass-big-large"]
    assert gone == [f"{kind} {name}" for kind in made for name in names] + [
        "PriorityClass windlass-placeholder"
    ]
    assert {tree["metadata"]["name"] for tree in server.objects.values()} == {"theirs"}
    assert len(server.objects) == 3


def test_an_object_that_is_already_deleted_is_no_error():
    server = Strict()
    spares = SpareNodes(server, "windlass", "pool")
    spares.set([SMALL], [1], ["so"])
    send = server.send

    def gone_already(method, path, body=None):
        if method == "DELETE":
            server.objects.pop(path)
        return send(method, path, body)

    server.send = gone_already
    spares.set([], [], [])
    assert set(server.of("PriorityClass")) == {tree["metadata"]["name"] for tree in server.objects.values()}
