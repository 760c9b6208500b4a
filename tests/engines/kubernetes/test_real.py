"""`windlass k8s` against a real kube-apiserver, with only the account and roles of ``deploy/kubernetes``."""

from __future__ import annotations

import itertools
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest
import yaml

pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.engines.kubernetes.between import Between
from tests.engines.kubernetes.cluster import (
    BUFFERS,
    CORES,
    DEPLOYMENTS,
    LABEL,
    NAMESPACE,
    PRIORITIES,
    TEMPLATES,
    cores_of,
    ours,
)
from tests.engines.kubernetes.real import define_buffers, make, served_real
from tests.engines.kubernetes.served import ROOT, environment, words
from tests.engines.kubernetes.things import kubeconfig, node, pod
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.server import ApiServer, MissingError, items
from windlass.engines.slurm.daemons import wait_until

pytestmark = pytest.mark.slow
PATIENCE = 300.0
#: Two of each type in reserve, as there is no day of history.
POLICY = "{predictive: {forecaster: naive, ladder: [[0, 2]]}}"
DEPLOYED = list(yaml.safe_load_all((ROOT / "deploy/kubernetes/autoscaler.yaml").read_text()))


@pytest.fixture
def served(tmp_path):
    """A server without CapacityBuffers, with a node in use."""
    with served_real(tmp_path, buffers=False) as found:
        make(found.cluster.server, node("a", "small"))
        make(found.cluster.server, pod("on-a", "3", "a"))
        yield found


@pytest.fixture
def between(served):
    """The proxy of an autoscaler's requests."""
    with closing(Between(served.upstream)) as found:
        yield found


@pytest.fixture
def config(served, between, tmp_path):
    """A kubeconfig file with the account's token."""
    return kubeconfig(tmp_path / "config", between.url, served.token)


class Command:
    """``windlass`` as a separate process, and its output."""

    def __init__(self, folder):
        self.output = folder / "said"

    def run(self, *words):
        """Run it to its end and return its output."""
        command = [sys.executable, "-m", "windlass", *map(str, words)]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def running(self, *words):
        """Run it within the context."""
        command = [sys.executable, "-m", "windlass", *map(str, words)]
        with open(self.output, "a") as file:
            process = subprocess.Popen(command, env=environment(), stdout=file, stderr=file)
        try:
            yield
        finally:
            process.terminate()
            status = process.wait(PATIENCE)
        assert status == 130, self.output.read_text()

    def has_printed(self, text):
        return text in self.output.read_text()


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path)


def all_of_ours(server):
    """Return the kinds and names of Windlass's objects."""
    paths = [
        DEPLOYMENTS.format(NAMESPACE),
        TEMPLATES.format(NAMESPACE),
        BUFFERS.format(NAMESPACE),
        PRIORITIES,
    ]
    found = set()
    for path in paths:
        try:
            found |= {(path, each["metadata"]["name"]) for each in items(server, path) if ours(each)}
        except MissingError:
            assert path == BUFFERS.format(NAMESPACE)
    return found


def test_requests_are_fulfilled_and_removed_and_no_permission_is_unused(
    served, between, config, command, tmp_path
):
    cluster, scale = served.cluster, words(config, tmp_path, NAMESPACE, POLICY, 0.5)
    cluster.submit(3)

    def requested(small):
        return wait_until(lambda: cluster.requested() == {"small": small, "large": 2}, PATIENCE)

    output = command.run(*scale, "--dry-run")
    assert "Deployment windlass/windlass-small: 3 spare" in output
    assert output.endswith("Nothing was changed.\n")
    assert between.written() == []
    assert all_of_ours(cluster.server) == set()

    with command.running(*scale, "--lease", "15"):
        assert requested(3), command.output.read_text()
        check_holders(cluster.server)
        cluster.submit(3)
        assert requested(4)
        define_buffers(cluster.server)
        cluster.buffers = True
        assert requested(4)
        assert wait_until(lambda: not any(map(ours, deployments(cluster.server))), PATIENCE)
        cluster.submit(3)
        assert requested(5)
    assert requested(5)

    gone = command.run("k8s", "remove", "--kubeconfig", config)
    assert gone.count("deleted") == 5
    assert all_of_ours(cluster.server) == set()
    assert command.run("k8s", "remove", "--kubeconfig", config) == "nothing of Windlass is there\n"
    assert [each["metadata"]["name"] for each in deployments(cluster.server)] == ["autoscaler"]
    assert {use for each in between.all for use in [used(each)]} == granted()


def deployments(server):
    return list(items(server, DEPLOYMENTS.format(NAMESPACE)))


def check_holders(server):
    """Check that placeholder pods request a whole instance, and are evicted first."""
    assert server.get(f"{PRIORITIES}/windlass-placeholder")["value"] == -10
    for each in filter(ours, deployments(server)):
        kind, template = each["metadata"]["name"].removeprefix("windlass-"), each["spec"]["template"]
        assert template["spec"]["nodeSelector"] == {LABEL: kind}
        assert template["spec"]["priorityClassName"] == "windlass-placeholder"
        assert cores_of(template) == CORES[kind]


def used(requested):
    """Return group, resource and verb of a request; the path for discovery."""
    path = requested.path.partition("?")[0]
    parts = path.strip("/").split("/")
    group, rest = (parts[1], parts[3:]) if parts[0] == "apis" else ("", parts[2:])
    if not rest:
        return path, "get"
    if rest[0] == "namespaces":
        rest = rest[2:]
    named = {"GET": "get", "PATCH": "patch", "DELETE": "delete"}
    listed = {"GET": "list", "POST": "create"}
    return group, rest[0], (named if len(rest) > 1 else listed)[requested.method]


def granted():
    """Return the same for all that the roles allow."""
    found = set()
    for rule in itertools.chain.from_iterable(each.get("rules", ()) for each in DEPLOYED):
        found |= set(itertools.product(rule.get("nonResourceURLs", ()), rule["verbs"]))
        found |= set(itertools.product(rule.get("apiGroups", ()), rule.get("resources", ()), rule["verbs"]))
    return found


def test_requests_beyond_the_roles_are_forbidden(served, config):
    admin, account = served.cluster.server, ApiServer(str(config))
    other = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1}
    admin.send("POST", PRIORITIES, {**other, "metadata": {"name": "other"}})
    for method, path in (
        ("GET", "/api/v1/secrets"),
        ("DELETE", "/api/v1/nodes/a"),
        ("PATCH", "/api/v1/nodes/a"),
        ("DELETE", "/api/v1/namespaces/default/pods/on-a"),
        ("POST", DEPLOYMENTS.format("default")),
        ("DELETE", f"{PRIORITIES}/other"),
    ):
        with pytest.raises(ClusterError, match=r"is forbidden: .*system:serviceaccount:windlass:autoscaler"):
            account.send(method, path, {} if method in ("POST", "PATCH") else None)


def test_temporarily_revoked_permissions_change_nothing(served, config, command, tmp_path):
    cluster = served.cluster
    (binding,) = [each for each in DEPLOYED if each["kind"] == "ClusterRoleBinding"]
    with command.running(*words(config, tmp_path, NAMESPACE, POLICY, 0.5)):
        assert wait_until(lambda: cluster.requested() == {"small": 2, "large": 2}, PATIENCE)
        path = f"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{binding['metadata']['name']}"
        cluster.server.send("DELETE", path)
        assert wait_until(lambda: command.has_printed("GET /api/v1/nodes is forbidden"), PATIENCE)
        cluster.submit(3)
        assert cluster.requested() == {"small": 2, "large": 2}
        make(cluster.server, binding)
        assert wait_until(lambda: cluster.requested() == {"small": 3, "large": 2}, PATIENCE)
        # It reports the recovery after a complete poll, which is after it has written.
        assert wait_until(lambda: command.has_printed("the cluster answers again"), PATIENCE)
    assert not command.has_printed("Traceback")
