"""The Helm chart, the manifests and the image agree; Helm accepts the chart and refuses wrong values."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from windlass.cli.app import app
from windlass.model.instances import InstanceType

ROOT = Path(__file__).parents[3]
CHART = ROOT / "deploy/helm/windlass"
MANIFESTS = ROOT / "deploy/kubernetes"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
#: The node types of autoscaler.yaml.
TYPES = [
    {"name": "m6i.large", "cores": 1.9, "memory": 7.0e9, "price": 0.096, "launch": 180, "most": 50},
    {"name": "m6i.4xlarge", "cores": 15.8, "memory": 60.0e9, "price": 0.768, "launch": 180, "most": 20},
]
Values = dict[str, Any]


def helm(command: str, *options: str, values: Values) -> subprocess.CompletedProcess[str]:
    program = shutil.which("helm", path=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin")
    if program is None:
        pytest.skip("helm is not installed; .ci/helm FOLDER installs it")
    run = [program, command, *options, "--values", "-"]
    return subprocess.run(run, input=json.dumps(values), capture_output=True, text=True, check=False)


def objects(text: str) -> dict[tuple[str, str], Any]:
    """Return the objects by kind and name, without fields that only one side has."""
    found = {}
    for each in yaml.safe_load_all(text):
        if each is None or each["kind"] == "Namespace":
            continue
        # A new checksum starts a new pod; a user of manifests restarts it.
        each.get("spec", {}).get("template", {}).get("metadata", {}).pop("annotations", None)
        pod = each.get("spec", {}).get("template", {}).get("spec", {})
        for container in pod.get("containers", ()):
            # The manifests have the default of a tag other than latest.
            assert container.pop("imagePullPolicy", "IfNotPresent") == "IfNotPresent"
        if each["kind"] == "ConfigMap":
            each["data"] = {name: yaml.safe_load(data) for name, data in each["data"].items()}
        found[each["kind"], each["metadata"]["name"]] = each
    return found


def rendered(values: Values) -> dict[tuple[str, str], Any]:
    done = helm("template", "windlass", str(CHART), "--namespace", "windlass", values=values)
    assert done.returncode == 0, done.stderr
    return objects(done.stdout)


def manifest(*names: str) -> dict[tuple[str, str], Any]:
    found: dict[tuple[str, str], Any] = {}
    for name in names:
        found |= objects((MANIFESTS / name).read_text())
    return found


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({}, ["agent.yaml"]),
        ({"agent": {"mark": "taint"}}, ["agent.yaml", "agent-taint.yaml"]),
        ({"agent": {"enabled": False}, "autoscaler": {"enabled": True, "types": TYPES}}, ["autoscaler.yaml"]),
        ({"agent": {"enabled": False}, "jobDriver": {"enabled": True}}, ["job-driver.yaml"]),
    ],
    ids=["agent", "agent with taints", "autoscaler", "job driver"],
)
def test_helm_accepts_the_chart_and_renders_the_manifests(values, names):
    done = helm("lint", "--strict", str(CHART), values=values)
    assert done.returncode == 0, done.stdout
    assert rendered(values) == manifest(*names)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"agent": {"mark": "yes"}}, "/agent/mark"),
        ({"agent": {"polcy": "pronto"}}, "polcy"),
        ({"agent": {"options": ["policy"]}}, "/agent/options/0"),
        ({"jobDriver": {"replicas": 0}}, "/jobDriver/replicas"),
        ({"jobDriver": {"policy": "order=easy"}}, "policy"),
        ({"autoscaler": {"enabled": True}}, "/autoscaler/types"),
        (
            {"autoscaler": {"enabled": True, "types": [{**TYPES[0], "cores": -1}]}},
            "/autoscaler/types/0/cores",
        ),
        ({"autoscaler": {"enabled": True, "types": [{**TYPES[0], "gpu": 1}]}}, "gpu"),
    ],
)
def test_helm_rejects_wrong_values_by_name(values, field):
    done = helm("template", "windlass", str(CHART), values=values)
    assert done.returncode != 0
    assert field in done.stderr


def test_values_reach_the_pods():
    values = {
        "image": {
            "repository": "here/windlass",
            "tag": "7",
            "pullPolicy": "Always",
            "pullSecrets": [{"name": "key"}],
        },
        "agent": {
            "mark": "label",
            "listen": "::1",
            "port": 9191,
            "priorityClassName": "system-node-critical",
            "options": ["--policy=forewarn"],
        },
        "autoscaler": {
            "enabled": True,
            "types": TYPES[:1],
            "options": ["--policy=newsvendor"],
            "history": {"storageClass": "fast"},
        },
    }
    done = helm("template", "windlass", str(CHART), "--namespace", "here", values=values)
    found = {each["kind"]: each for each in yaml.safe_load_all(done.stdout)}
    pods = [found[kind]["spec"]["template"]["spec"] for kind in ("DaemonSet", "Deployment")]
    assert [pod["imagePullSecrets"] for pod in pods] == [[{"name": "key"}]] * 2
    assert pods[0]["priorityClassName"] == "system-node-critical"
    agent, autoscaler = (pod["containers"][0] for pod in pods)
    assert "--listen=[::1]:9191" in agent["args"]
    assert {each["image"] for each in (agent, autoscaler)} == {"here/windlass:7"}
    assert agent["args"][-2:] == ["--kubernetes=label", "--policy=forewarn"]
    assert agent["livenessProbe"]["httpGet"]["port"] == 9191
    assert autoscaler["args"][-4:-2] == ["--namespace=here", "--lease=15"]
    assert autoscaler["args"][-1] == "--policy=newsvendor"
    assert found["PersistentVolumeClaim"]["spec"]["storageClassName"] == "fast"
    assert {each["metadata"].get("namespace", "here") for each in found.values()} == {"here"}


def test_a_change_of_types_starts_a_new_pod():
    found = []
    for types in (TYPES, TYPES[:1], TYPES):
        done = helm(
            "template", "windlass", str(CHART), values={"autoscaler": {"enabled": True, "types": types}}
        )
        (pod,) = (each for each in yaml.safe_load_all(done.stdout) if each["kind"] == "Deployment")
        found.append(pod["spec"]["template"]["metadata"]["annotations"]["checksum/types"])
    assert found[0] == found[2] != found[1]


def test_the_schema_has_the_fields_of_a_type():
    schema = json.loads((CHART / "values.schema.json").read_text())["properties"]
    fields = schema["autoscaler"]["properties"]["types"]["items"]["properties"]
    assert set(fields) == {each.name for each in dataclasses.fields(InstanceType)}


def test_the_schema_knows_each_default():
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    schema = json.loads((CHART / "values.schema.json").read_text())["properties"]
    for room, fields in values.items():
        assert set(fields) == set(schema[room]["properties"]), room


def test_versions_agree():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    reproductions = tomllib.loads((ROOT / "reproductions/pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    found = {chart["appVersion"], chart["version"], reproductions["version"], citation["version"]}
    assert found == {PROJECT["version"]}
    assert f"windlass:{PROJECT['version']} " in (ROOT / "Dockerfile").read_text()
    assert f"\n## {PROJECT['version']} (" in (ROOT / "CHANGELOG.md").read_text()
    for path in {*MANIFESTS.glob("*.yaml")} - {MANIFESTS / "namespace.yaml"}:
        assert set(re.findall(r"image: (\S+)", path.read_text())) == {f"windlass:{PROJECT['version']}"}, path


def test_the_image_has_extras_that_exist_and_all_files_of_the_build():
    text = (ROOT / "Dockerfile").read_text()
    (extras,) = re.findall(r"^ARG EXTRAS=(\S+)$", text, flags=re.MULTILINE)
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    copied = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"}
    assert {"pyproject.toml", "src", PROJECT["readme"], *PROJECT["license-files"]} <= copied
    assert all((ROOT / each).exists() for each in copied)


@pytest.mark.parametrize("name", ["autoscaler.yaml", "job-driver.yaml"])
def test_the_options_of_a_manifest_exist(name):
    (deployment,) = (each for (kind, _), each in manifest(name).items() if kind == "Deployment")
    command = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    words = [each for each in command if not each.startswith("--")]
    printed = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"}).output
    options = {each.split("=")[0] for each in command if each.startswith("--")}
    assert options <= set(re.findall(r"--[a-z][a-z-]+", printed))


@pytest.mark.parametrize("name", ["autoscaler.yaml", "job-driver.yaml"])
def test_probes_of_a_driver_request_its_health_at_the_port_of_its_metrics(name):
    (deployment,) = (each for (kind, _), each in manifest(name).items() if kind == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    (port,) = container["ports"]
    assert f"--metrics=0.0.0.0:{port['containerPort']}" in container["args"]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"] == {"port": port["name"], "path": "/healthz"}
