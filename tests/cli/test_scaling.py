"""`windlass k8s autoscale`: a dry run against an emulated server, and errors for wrong input."""

from __future__ import annotations

import sys

import pytest
import yaml

pytest.importorskip("kmock", reason="needs the package kmock")
pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.engines.kubernetes.emulated import client, emulated
from tests.engines.kubernetes.things import node, pod
from windlass.cli import main

DEPLOYMENTS = "/apis/apps/v1/namespaces/windlass/deployments"


@pytest.fixture
def types(tmp_path):
    file = tmp_path / "types.yaml"
    file.write_text(yaml.safe_dump({"types": [{"name": "small", "cores": 4, "most": 5}]}))
    return file


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    def run(*words, status=0):
        monkeypatch.setattr(sys, "argv", ["windlass", *map(str, words)])
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        with pytest.raises(SystemExit) as stop:
            main()
        message = capsys.readouterr()
        assert (stop.value.code or 0) == status, message.err
        return message.out if status == 0 else message.err

    return run


def test_a_dry_run_prints_the_requests_and_writes_nothing(call, types, tmp_path):
    with emulated(buffers=False) as (url, _):
        server = client(url, tmp_path)
        server.send("POST", "/api/v1/nodes", node("a", "small"))
        server.send("POST", "/api/v1/namespaces/default/pods", pod("waits", "3"))
        config = ("--types", types, "--kubeconfig", tmp_path / "kubeconfig")
        message = call("k8s", "autoscale", *config, "--policy", "{static: {count: 3}}", "--dry-run")
        assert "Deployment windlass/windlass-small: 3 spare" in message
        assert message.endswith("Nothing was changed.\n")
        assert server.get(DEPLOYMENTS)["items"] == []
        assert call("k8s", "remove", *config[2:]) == "no objects of Windlass found\n"
    # There is no history of demand either.
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("types: []", "types.yaml: types: expected at least 1 entry, found []"),
        (
            "types: [{name: a, cores: -1, most: 1}]",
            "types.0.cores: expected at least 0, found -1",
        ),
        ("types: [{name: a, cores: 1}]", "types.0.most: missing"),
        ("types: [{name: a, cores: 1, most: 1}, {name: a, cores: 2, most: 1}]", "type 'a' is defined twice"),
        ("types: [{name: a, most: 1}]", "has no resources"),
        ("types: [", "is not YAML"),
        ("3", "the file"),
    ],
)
def test_an_invalid_types_file_is_a_one_line_error(call, types, text, message):
    types.write_text(text)
    found = call("k8s", "autoscale", "--types", types, "--dry-run", status=2)
    assert message in found
    assert found.count("\n") == 1


def test_a_missing_kubeconfig_is_a_one_line_error(call, types, tmp_path):
    message = call("k8s", "autoscale", "--types", types, "--kubeconfig", tmp_path / "none", status=2)
    assert "--kubeconfig" in message
    assert message.count("\n") == 1


def test_an_unreachable_server_is_a_one_line_error(call, types, tmp_path):
    client("http://127.0.0.1:9", tmp_path)
    config = ("--types", types, "--kubeconfig", tmp_path / "kubeconfig")
    message = call("k8s", "autoscale", *config, "--dry-run", status=2)
    assert "http://127.0.0.1:9 does not answer" in message
    assert message.count("\n") == 1


@pytest.mark.parametrize("policy", ["nobody", "{static: 3", "[a, b]"])
def test_an_unknown_policy_is_a_one_line_error(call, types, tmp_path, policy):
    client("http://127.0.0.1:9", tmp_path)
    config = ("--types", types, "--kubeconfig", tmp_path / "kubeconfig")
    assert call("k8s", "autoscale", *config, "--policy", policy, status=2).count("\n") == 1
