"""Requests of removed types are deleted; objects of another shape are recreated."""

from __future__ import annotations

import pytest

pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.engines.kubernetes.cluster import BUFFERS, DEPLOYMENTS, NAMESPACE, TEMPLATES
from tests.engines.kubernetes.served import served_here
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.headroom import SpareNodes
from windlass.engines.kubernetes.server import MissingError, items
from windlass.engines.kubernetes.system import KubernetesScale
from windlass.model import InputError
from windlass.model.instances import InstanceType

SMALL, LARGE = InstanceType("small", cores=4, most=9), InstanceType("large", cores=8, most=9)


@pytest.fixture(params=[True, False], ids=["buffers", "deployments"])
def served(request, tmp_path):
    with served_here(tmp_path, request.param) as found:
        yield found


def named(served, path):
    return {each["metadata"]["name"]: each for each in items(served.cluster.server, path.format(NAMESPACE))}


def test_a_removed_type_is_no_longer_requested(served):
    spare = SpareNodes(served.cluster.server, NAMESPACE, "type")
    spare.set([SMALL, LARGE], [1, 2], ["so", "so"])
    spare.set([SMALL], [1], ["so"])
    assert list(named(served, served.cluster.path)) == ["windlass-small"]
    assert list(named(served, TEMPLATES)) == (["windlass-small"] if served.cluster.buffers else [])


@pytest.mark.parametrize(
    ("then", "label"), [(InstanceType("small", cores=3, most=9), "type"), (SMALL, "other")]
)
def test_an_instance_of_another_shape_is_requested_again(served, then, label):
    path = TEMPLATES if served.cluster.buffers else DEPLOYMENTS
    SpareNodes(served.cluster.server, NAMESPACE, "type").set([SMALL], [2], ["so"])
    SpareNodes(served.cluster.server, NAMESPACE, label).set([then], [2], ["so"])
    found = named(served, path)["windlass-small"]
    spec = (found if served.cluster.buffers else found["spec"])["template"]["spec"]
    assert spec["nodeSelector"] == {label: "small"}
    assert spec["containers"][0]["resources"]["requests"]["cpu"] == f"{1000 * int(then.cores)}m"
    assert named(served, served.cluster.path)["windlass-small"]["spec"]["replicas"] == 2


class PartialServer:
    """A server on which some paths are not found.

    Parameters
    ----------
    server
        The server behind it, with all paths.
    missing
        Parts of the missing paths; may change.
    """

    def __init__(self, server, *missing):
        self.server, self.send, self.missing = server, server.send, missing

    def get(self, path):
        if any(part in path for part in self.missing):
            raise MissingError(f"GET {path}: not found")
        return self.server.get(path)


GROUP, DEFINITION = "/apis/autoscaling.x-k8s.io", "customresourcedefinitions"


def test_deployments_are_deleted_once_the_server_has_buffers(tmp_path):
    with served_here(tmp_path) as served:
        server = served.cluster.server
        SpareNodes(PartialServer(server, GROUP, DEFINITION), NAMESPACE, "type").set([SMALL], [2], ["so"])
        theirs = {"metadata": {"name": "theirs"}, "spec": {"replicas": 1}}
        server.send("POST", DEPLOYMENTS.format(NAMESPACE), theirs)
        assert list(named(served, DEPLOYMENTS)) == ["windlass-small", "theirs"]
        SpareNodes(server, NAMESPACE, "type").set([SMALL], [2], ["so"])
        assert list(named(served, DEPLOYMENTS)) == ["theirs"]
        assert list(named(served, BUFFERS)) == ["windlass-small"]


def test_buffers_are_used_once_the_server_has_them(tmp_path):
    with served_here(tmp_path) as served:
        server = PartialServer(served.cluster.server, GROUP, DEFINITION)
        spare = SpareNodes(server, NAMESPACE, "type")
        spare.set([SMALL], [2], ["so"])
        assert list(named(served, DEPLOYMENTS)) == ["windlass-small"]
        server.missing = ()
        spare.set([SMALL], [2], ["so"])
        assert list(named(served, DEPLOYMENTS)) == []
        assert list(named(served, BUFFERS)) == ["windlass-small"]


def test_defined_buffers_that_are_not_served_yet_are_an_error(tmp_path):
    """A real server reports this for a moment at its start: no request may be duplicated."""
    with served_here(tmp_path) as served:
        server = PartialServer(served.cluster.server)
        spare = SpareNodes(server, NAMESPACE, "type")
        spare.set([SMALL], [2], ["so"])
        server.missing = (GROUP,)
        for ask in (
            lambda: spare.set([SMALL], [4], ["so"]),
            lambda: spare.describe([SMALL], [4]),
            spare.remove,
        ):
            with pytest.raises(
                ClusterError, match="has the definition of CapacityBuffers, but does not serve"
            ):
                ask()
        assert list(named(served, DEPLOYMENTS)) == []
        assert named(served, BUFFERS)["windlass-small"]["spec"]["replicas"] == 2
        server.missing = ()
        spare.set([SMALL], [4], ["so"])
        assert named(served, BUFFERS)["windlass-small"]["spec"]["replicas"] == 4


def test_types_with_the_same_object_name_are_rejected(served):
    types = (InstanceType("m5.large", cores=2), InstanceType("m5-large", cores=4))
    with pytest.raises(
        InputError, match=r"'m5.large' and 'm5-large' would both use the object name 'windlass-m5-large'"
    ):
        KubernetesScale(served.cluster.server, types)
