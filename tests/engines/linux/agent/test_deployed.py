"""The systemd unit and the manifests, checked without systemd and Kubernetes; and marks of a node."""

import io
import json
import re
import shutil
import ssl
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from windlass.agent import kubernetes
from windlass.agent.kubernetes import KEY, Marker, marking_server
from windlass.agent.options import MARKS
from windlass.agent.signal_board import AdmissionAnswer
from windlass.agent.stop import Stop
from windlass.cli.app import app
from windlass.engines.backoff import Backoff
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.access import service_account
from windlass.model import InputError

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "deploy" / "kubernetes"
MANIFESTS = ("agent.yaml", "agent-taint.yaml")


def objects(name):
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


def daemon_set(name):
    (found,) = [each for each in objects(name) if each["kind"] == "DaemonSet"]
    return found


def options_of_run():
    text = CliRunner().invoke(app, ["agent", "run", "--help"], env={"COLUMNS": "200"}).output
    return set(re.findall(r"--[a-z][a-z-]+", text))


def test_the_daemon_sets_differ_only_in_the_mark():
    one, other = map(daemon_set, MANIFESTS)
    pod, marking = one["spec"]["template"]["spec"], other["spec"]["template"]["spec"]
    assert marking["containers"][0]["args"] == [*pod["containers"][0]["args"], "--kubernetes=taint"]
    assert (pod["automountServiceAccountToken"], marking["automountServiceAccountToken"]) == (False, True)
    marking["containers"][0]["args"].pop()
    marking["automountServiceAccountToken"] = False
    assert one == other


@pytest.mark.parametrize("name", MANIFESTS)
def test_options_in_a_manifest_exist_in_the_command(name):
    container = daemon_set(name)["spec"]["template"]["spec"]["containers"][0]
    room, command, *arguments = container["args"]
    assert (room, command) == ("agent", "run")
    assert {each.split("=")[0] for each in arguments} <= options_of_run()
    mounted = {each["mountPath"] for each in container["volumeMounts"]}
    assert {"/state", "/host/cgroup", "/cache"} <= mounted


def test_only_the_marking_agent_may_patch_nodes():
    roles = [each for name in MANIFESTS for each in objects(name) if each["kind"] == "ClusterRole"]
    assert [role["rules"] for role in roles] == [
        [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "patch"]}]
    ]
    assert not any("Role" in each["kind"] for each in objects("agent.yaml"))


@pytest.mark.parametrize("name", MANIFESTS)
def test_pods_have_no_privileges_on_their_machine(name):
    pod = daemon_set(name)["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"]
    security = pod["containers"][0]["securityContext"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert (security["allowPrivilegeEscalation"], security["readOnlyRootFilesystem"]) == (False, True)
    host = [each for each in pod["volumes"] if "hostPath" in each]
    assert [each["name"] for each in host] == ["cgroup"]
    assert all(each["readOnly"] for each in pod["containers"][0]["volumeMounts"] if each["name"] == "cgroup")


def test_the_systemd_unit_is_valid(tmp_path):
    text = (ROOT / "deploy/systemd/windlass-agent.service").read_text()
    (command,) = re.findall(r"^ExecStart=(.*)$", text, flags=re.MULTILINE)
    assert set(re.findall(r"--[a-z][a-z-]+", command)) <= options_of_run()
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    # systemd-analyze checks that the command exists.
    unit = tmp_path / "windlass-agent.service"
    unit.write_text(text.replace(command.split()[0], sys.executable))
    done = subprocess.run([analyze, "verify", "--man=no", str(unit)], capture_output=True, text=True)
    own = [line for line in done.stderr.splitlines() if "windlass-agent" in line]
    assert (done.returncode, own) == (0, [])


class Cluster:
    """A Kubernetes node that applies JSON merge patches."""

    def __init__(self, *taints):
        self.node = {
            "metadata": {"resourceVersion": "1", "labels": {"a": "b"}},
            "spec": {"taints": list(taints)},
        }
        self.patches, self.away = [], False

    def get(self, path):
        assert path == "/api/v1/nodes/me"
        if self.away:
            raise ClusterError("timed out")
        return json.loads(json.dumps(self.node))

    def send(self, method, path, change):
        assert (method, path) == ("PATCH", "/api/v1/nodes/me")
        if self.away:
            raise ClusterError("timed out")
        version = change["metadata"].get("resourceVersion", self.node["metadata"]["resourceVersion"])
        if version != self.node["metadata"]["resourceVersion"]:
            raise ClusterError("409")
        self.patches.append(change)
        for name, value in change["metadata"].get("labels", {}).items():
            self.node["metadata"]["labels"].pop(name, None)
            if value is not None:
                self.node["metadata"]["labels"][name] = value
        if "spec" in change:
            self.node["spec"]["taints"] = change["spec"]["taints"]
        self.node["metadata"]["resourceVersion"] += "1"

    @property
    def marked(self):
        keys = [each["key"] for each in self.node["spec"]["taints"]] + list(self.node["metadata"]["labels"])
        return KEY in keys


OTHER = {"key": "somebody/else", "effect": "NoExecute"}


class Agent:
    accept = True
    measured = True

    def __call__(self):
        return AdmissionAnswer(self.accept, "", 100, self.measured)


@pytest.fixture(params=[by for by in MARKS if by != "off"])
def marking(request, clock):
    cluster, agent, lines = Cluster(OTHER), Agent(), []
    marker = Marker(
        cluster,
        "me",
        request.param,
        agent,
        clock,
        Backoff(1.0, 300.0, np.random.default_rng(1)),
        lines.append,
    )
    return marker, cluster, agent, lines


def test_the_mark_follows_the_answer_and_keeps_other_taints(marking, clock):
    marker, cluster, agent, _ = marking
    for accept in (True, False, True):
        agent.accept = accept
        clock.now += 60.0
        marker.step()
        assert cluster.marked is not accept
        assert OTHER in cluster.node["spec"]["taints"]
        assert cluster.node["metadata"]["labels"]["a"] == "b"


def test_alternating_answers_are_rate_limited(marking, clock):
    marker, cluster, agent, _ = marking
    for step in range(100):
        agent.accept = step % 2 == 0
        clock.now += 1.0
        marker.step()
    assert 1 <= len(cluster.patches) <= 11


def test_a_starting_agent_does_not_mark_its_node(marking, clock):
    marker, cluster, agent, _ = marking
    agent.accept = agent.measured = False
    marker.step()
    assert cluster.patches == []
    agent.measured = True
    marker.step()
    assert cluster.marked


def test_an_unchanged_answer_is_not_written_again(marking, clock):
    marker, cluster, _, _ = marking
    for _ in range(50):
        clock.now += 60.0
        marker.step()
    assert len(cluster.patches) <= 1


def test_a_mark_left_by_a_killed_agent_is_corrected(clock):
    left = {"key": KEY, "value": "false", "effect": "NoSchedule"}
    cluster = Cluster(left, OTHER)
    marker = Marker(
        cluster, "me", "taint", Agent(), clock, Backoff(1.0, 300.0, np.random.default_rng(1)), print
    )
    marker.step()
    assert cluster.node["spec"]["taints"] == [OTHER]


def test_a_stopping_agent_removes_its_mark(marking):
    marker, cluster, agent, _ = marking
    agent.accept = False
    marker.step()
    assert cluster.marked
    stop = Stop()
    stop.notify()
    marker.run(stop)
    assert not cluster.marked


def test_an_unreachable_cluster_is_reported_and_retried(marking, clock):
    marker, cluster, agent, lines = marking
    agent.accept, cluster.away = False, True
    assert 0.5 <= marker.step() <= 1.0
    assert marker.failed == len(lines) == 1
    cluster.away = False
    marker.step()
    assert cluster.marked


@pytest.fixture
def account(tmp_path, monkeypatch):
    """A service account without a server."""
    monkeypatch.setattr(kubernetes, "service_account", lambda: service_account(INSIDE, tmp_path))
    (tmp_path / "token").write_text("of-the-account\n")
    (tmp_path / "ca.crt").write_text(certificate())
    return tmp_path


INSIDE = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "1"}


def test_the_agent_does_not_need_the_kubernetes_package(account, monkeypatch):
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    server = marking_server()
    assert server.host == "https://127.0.0.1:1"
    with pytest.raises(ClusterError, match=r"https://127\.0\.0\.1:1 does not answer: "):
        server.get("/api/v1/nodes/me")


def test_outside_of_a_pod_the_error_names_the_option(account):
    (account / "token").unlink()
    with pytest.raises(InputError, match=r"^--kubernetes: .*: no service account: No such file"):
        marking_server()


def test_a_forbidden_request_names_the_agent_s_role(account, monkeypatch):
    server = marking_server()

    class Forbidden(io.BytesIO):
        status, length = 403, 0

    monkeypatch.setattr(server._opener, "open", lambda *given, timeout: Forbidden(b"{}"))
    needed = r"is forbidden: no reason given; see (.*) for the required roles"
    with pytest.raises(ClusterError, match=needed) as error:
        server.send("PATCH", "/api/v1/nodes/me", {})
    (path,) = re.findall(needed, str(error.value))
    assert (ROOT / path).is_file()


def certificate():
    """Return any certificate: the trusted authority does not matter here."""
    paths = ssl.get_default_verify_paths()
    for path in (paths.cafile, paths.openssl_cafile, "/etc/ssl/certs/ca-certificates.crt"):
        if path and Path(path).is_file():
            text = Path(path).read_text()
            return text[: text.index("-----END CERTIFICATE-----")] + "-----END CERTIFICATE-----\n"
    pytest.skip("no certificate of an authority on this machine")
