"""Totals become spare instances on an API server, and objects of other owners are never written."""

from __future__ import annotations

import numpy as np
import pytest

kmock = pytest.importorskip("kmock", reason="needs the package kmock")
pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.engines.kubernetes.emulated import client, emulated  # noqa: E402
from tests.engines.kubernetes.things import node, pod  # noqa: E402
from windlass.engines.elastic.system import ClusterError  # noqa: E402
from windlass.engines.kubernetes.server import MissingError, items  # noqa: E402
from windlass.engines.kubernetes.system import KubernetesScale  # noqa: E402
from windlass.model.instances import InstanceType  # noqa: E402
from windlass.scale import Totals  # noqa: E402

TYPES = (
    InstanceType("small", cores=4, memory=16e9, most=10),
    InstanceType("large", gpus=1, cores=8, memory=32e9, most=3),
)
DEPLOYMENTS = "/apis/apps/v1/namespaces/windlass/deployments"
BUFFERS = "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/windlass/capacitybuffers"
WHY = ("needed soon", "enough")


@pytest.fixture(params=[True, False], ids=["buffers", "deployments"])
def server(request, tmp_path):
    with emulated(request.param) as (url, handler):
        found = client(url, tmp_path)
        found.buffers, found.emulator = request.param, handler
        yield found


@pytest.fixture
def spares(server):
    """Return the number of spare instances that each of Windlass's objects requests."""

    def count():
        found = items(server, BUFFERS if server.buffers else DEPLOYMENTS)
        return {each["metadata"]["name"]: each["spec"]["replicas"] for each in found}

    return count


def fill(server):
    for name, kind, ready in (("a", "small", True), ("b", "small", True), ("c", "small", False)):
        server.send("POST", "/api/v1/nodes", node(name, kind, ready))
    server.send("POST", "/api/v1/nodes", node("other", "unknown"))
    daemon = {"ownerReferences": [{"kind": "DaemonSet", "name": "net"}]}
    ours = {"labels": {"app.kubernetes.io/managed-by": "windlass"}}
    for each in (
        pod("runs", "1500m", "a"),
        pod("waits", "2"),
        pod("net", "1", "b", **daemon),
        pod("holds", "4", "b", **ours),
        pod("elsewhere", "3", "other"),
    ):
        server.send("POST", "/api/v1/namespaces/default/pods", each)


def test_a_snapshot_counts_nodes_and_pods(server):
    fill(server)
    seen = KubernetesScale(server, TYPES).look()
    assert (seen.ready.tolist(), seen.coming.tolist(), seen.used.tolist()) == ([2, 0], [1, 0], [1, 0])
    assert seen.running.resources.tolist() == [[0.0, 1.5, 0.0]]
    assert seen.waiting.resources.tolist() == [[0.0, 2.0, 0.0]]
    assert seen.waiting.since.tolist() == [1767225600.0]
    assert np.isinf(seen.running.walltime).all()


def test_totals_include_used_instances(server, spares):
    fill(server)
    system = KubernetesScale(server, TYPES)
    seen = system.look()
    system.set_totals(Totals((3, 1), WHY), seen)
    # One of the small ones is in use.
    assert spares() == {"windlass-small": 2, "windlass-large": 1}
    system.set_totals(Totals((0, 3), WHY), seen)
    assert spares() == {"windlass-small": 0, "windlass-large": 3}


def test_unchanged_objects_are_not_written_again(server, spares):
    system = KubernetesScale(server, TYPES)
    seen = system.look()
    for _ in range(2):
        system.set_totals(Totals((3, 1), WHY), seen)
    written = [each for each in server.emulator if str(each.method).upper().endswith("PATCH")]
    assert written == []
    assert spares() == {"windlass-small": 3, "windlass-large": 1}


def test_a_dry_run_writes_nothing(server, spares):
    system = KubernetesScale(server, TYPES)
    message = system.describe(Totals((2, 0), WHY), system.look())
    kind = "CapacityBuffer" if server.buffers else "Deployment"
    assert message == [f"{kind} windlass/windlass-small: 2 spare", f"{kind} windlass/windlass-large: 0 spare"]
    assert spares() == {}


def test_objects_of_other_owners_are_left_unchanged(server, spares):
    theirs = {
        "apiVersion": "v1",
        "kind": "X",
        "metadata": {"name": "windlass-small", "namespace": "windlass"},
        "spec": {"replicas": 7},
    }
    server.send("POST", BUFFERS if server.buffers else DEPLOYMENTS, theirs)
    system = KubernetesScale(server, TYPES)
    with pytest.raises(ClusterError, match=r"windlass-small is not Windlass's.*left unchanged"):
        system.set_totals(Totals((1, 1), WHY), system.look())
    assert system.remove() != []
    assert spares() == {"windlass-small": 7}


def test_remove_deletes_all_of_windlass_s_objects(server, spares):
    system = KubernetesScale(server, TYPES)
    system.set_totals(Totals((1, 1), WHY), system.look())
    gone = system.remove()
    assert spares() == {}
    assert len(gone) == (5 if server.buffers else 3)
    assert system.remove() == []


def test_placeholder_pods_have_low_priority_and_request_a_whole_instance(server):
    system = KubernetesScale(server, TYPES)
    system.set_totals(Totals((1, 1), WHY), system.look())
    path = "/api/v1/namespaces/windlass/podtemplates" if server.buffers else DEPLOYMENTS
    large = server.get(f"{path}/windlass-large")
    spec = (large if server.buffers else large["spec"])["template"]["spec"]
    assert spec["containers"][0]["resources"]["requests"] == {
        "cpu": "8000m",
        "memory": "32000000000",
        "nvidia.com/gpu": "1",
    }
    assert spec["nodeSelector"] == {"node.kubernetes.io/instance-type": "large"}
    lowest = server.get(f"/apis/scheduling.k8s.io/v1/priorityclasses/{spec['priorityClassName']}")
    assert lowest["value"] == -10


def test_lists_are_read_page_by_page(server):
    for number in range(3):
        server.send("POST", "/api/v1/nodes", node(f"n{number}", "small"))
    assert len(list(items(server, "/api/v1/nodes"))) == 3


def test_a_missing_object_raises_missing_error(server):
    with pytest.raises(MissingError, match="not found"):
        server.get("/api/v1/namespaces/none/podtemplates/none")


@pytest.mark.parametrize(
    ("status", "message"),
    [(403, "is forbidden"), (401, "authentication failed"), (500, "failed with status 500")],
)
def test_the_error_of_a_refusal_is_one_line_and_changes_nothing(server, spares, status, message):
    system = KubernetesScale(server, TYPES)
    _ = server.emulator["get /api/v1/nodes"] << status
    with pytest.raises(ClusterError, match=message) as error:
        system.look()
    assert "\n" not in str(error.value)
    assert spares() == {}


def test_an_unreachable_server_is_named_in_the_error(tmp_path):
    away = client("http://127.0.0.1:9", tmp_path)
    with pytest.raises(ClusterError, match=r"http://127.0.0.1:9 does not answer: "):
        KubernetesScale(away, TYPES).look()
