"""What was asked for before and stands for nothing any more goes; what is of another shape is made anew."""

from __future__ import annotations

import pytest

pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.engines.kubernetes.cluster import BUFFERS, DEPLOYMENTS, NAMESPACE, TEMPLATES
from tests.engines.kubernetes.served import served_here
from windlass.engines.kubernetes.server import items
from windlass.engines.kubernetes.spare import Spare
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


def test_a_type_that_is_gone_is_asked_for_no_more(served):
    spare = Spare(served.cluster.server, NAMESPACE, "type")
    spare.set([SMALL, LARGE], [1, 2], ["so", "so"])
    spare.set([SMALL], [1], ["so"])
    assert list(named(served, served.cluster.path)) == ["windlass-small"]
    assert list(named(served, TEMPLATES)) == (["windlass-small"] if served.cluster.buffers else [])


@pytest.mark.parametrize(
    ("then", "label"), [(InstanceType("small", cores=3, most=9), "type"), (SMALL, "other")]
)
def test_an_instance_of_another_shape_is_asked_for_anew(served, then, label):
    path = TEMPLATES if served.cluster.buffers else DEPLOYMENTS
    Spare(served.cluster.server, NAMESPACE, "type").set([SMALL], [2], ["so"])
    Spare(served.cluster.server, NAMESPACE, label).set([then], [2], ["so"])
    found = named(served, path)["windlass-small"]
    spec = (found if served.cluster.buffers else found["spec"])["template"]["spec"]
    assert spec["nodeSelector"] == {label: "small"}
    assert spec["containers"][0]["resources"]["requests"]["cpu"] == f"{1000 * int(then.cores)}m"
    assert named(served, served.cluster.path)["windlass-small"]["spec"]["replicas"] == 2


def test_deployments_go_where_the_server_has_buffers_now(tmp_path):
    class Without:
        """The same server before it had them."""

        def __init__(self, server):
            self.server, self.send = server, server.send

        def get(self, path):
            return self.server.get(path.replace("autoscaling", "none"))

    with served_here(tmp_path) as served:
        server = served.cluster.server
        Spare(Without(server), NAMESPACE, "type").set([SMALL], [2], ["so"])
        theirs = {"metadata": {"name": "theirs"}, "spec": {"replicas": 1}}
        server.send("POST", DEPLOYMENTS.format(NAMESPACE), theirs)
        assert list(named(served, DEPLOYMENTS)) == ["windlass-small", "theirs"]
        Spare(server, NAMESPACE, "type").set([SMALL], [2], ["so"])
        assert list(named(served, DEPLOYMENTS)) == ["theirs"]
        assert list(named(served, BUFFERS)) == ["windlass-small"]


def test_one_that_has_them_after_a_while_is_asked_for_them(tmp_path):
    class Late:
        """Knows of them from the second time on."""

        def __init__(self, server):
            self.server, self.send, self.asked = server, server.send, 0

        def get(self, path):
            self.asked += path == "/apis/autoscaling.x-k8s.io"
            return self.server.get(path if self.asked > 1 else path.replace("autoscaling", "none"))

    with served_here(tmp_path) as served:
        spare = Spare(Late(served.cluster.server), NAMESPACE, "type")
        for _ in range(2):
            spare.set([SMALL], [2], ["so"])
        assert list(named(served, DEPLOYMENTS)) == []
        assert list(named(served, BUFFERS)) == ["windlass-small"]


def test_types_whose_objects_would_have_one_name(served):
    types = (InstanceType("m5.large", cores=2), InstanceType("m5-large", cores=4))
    with pytest.raises(
        InputError, match=r"'m5.large' and 'm5-large' would both be called 'windlass-m5-large'"
    ):
        KubernetesScale(served.cluster.server, types)
