"""A server in memory that rejects what a real API server rejects, and records writing requests."""

from __future__ import annotations

import copy
import json
import re

from tests.engines.kubernetes.store import _merged
from windlass.engines.kubernetes.server import refusal

_BUILT_IN = {
    "/apis/apps/v1/namespaces/windlass/deployments": ("apps/v1", "Deployment"),
    "/api/v1/namespaces/windlass/podtemplates": ("v1", "PodTemplate"),
    "/apis/scheduling.k8s.io/v1/priorityclasses": ("scheduling.k8s.io/v1", "PriorityClass"),
}
_GROUP = "/apis/autoscaling.x-k8s.io"
_DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/capacitybuffers.autoscaling.x-k8s.io"
_FIELDS = {
    "Deployment": {"replicas", "selector", "template"},
    "CapacityBuffer": {"podTemplateRef", "replicas"},
}
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_QUANTITY = re.compile(r"[0-9]+m?")


class Strict:
    """Serves the kinds that an autoscaler writes, and no other path.

    Parameters
    ----------
    version
        Version of CapacityBuffers; empty if they are not served.
    """

    def __init__(self, version="v1beta1"):
        self.version, self.objects, self.written = version, {}, []

    def kinds(self):
        """Collections, each with the API and the kind of its objects."""
        found = dict(_BUILT_IN)
        if self.version:
            path = f"{_GROUP}/{self.version}/namespaces/windlass/capacitybuffers"
            found[path] = (f"autoscaling.x-k8s.io/{self.version}", "CapacityBuffer")
        return found

    def get(self, path):
        path, _, query = path.partition("?")
        if path == _GROUP and self.version:
            return {"kind": "APIGroup", "preferredVersion": {"version": self.version}}
        if path == _DEFINITION and self.version:
            return {"metadata": {"name": path.rpartition("/")[2]}}
        if path in self.kinds():
            assert query.startswith("limit=")
            there = [
                copy.deepcopy(tree) for at, tree in self.objects.items() if at.rpartition("/")[0] == path
            ]
            return {"items": there}
        return copy.deepcopy(self._found("GET", path))

    def send(self, method, path, body=None):
        if method == "POST":
            api, kind = self.kinds().get(path) or self._missing(method, path)
            _check(api, kind, body, namespaced="/namespaces/" in path)
            at = f"{path}/{body['metadata']['name']}"
            if at in self.objects:
                raise refusal(409, method, path, json.dumps({"message": f"{at} exists already"}))
            self.objects[at] = copy.deepcopy(body)
        elif method == "PATCH":
            at, tree = path, _merged(self._found(method, path), body)
            _check(*self.kinds()[path.rpartition("/")[0]], tree, namespaced="/namespaces/" in path)
            self.objects[at] = tree
        else:
            assert (method, body) == ("DELETE", None)
            self._found(method, path)
            at = path
            del self.objects[at]
        self.written.append((method, at.rpartition("/")[2], (body or {}).get("spec", {}).get("replicas")))
        return copy.deepcopy(self.objects.get(at, {"kind": "Status"}))

    def of(self, kind):
        """Objects of a kind, by name."""
        return {tree["metadata"]["name"]: tree for tree in self.objects.values() if tree["kind"] == kind}

    def put(self, collection, tree):
        """Add an object of another owner."""
        path = next(path for path in self.kinds() if path.endswith(collection))
        api, kind = self.kinds()[path]
        self.objects[f"{path}/{tree['metadata']['name']}"] = {"apiVersion": api, "kind": kind, **tree}

    def _found(self, method, path):
        return self.objects[path] if path in self.objects else self._missing(method, path)

    def _missing(self, method, path):
        raise refusal(404, method, path, b"")


def _check(api, kind, tree, *, namespaced):
    """Reject an object that a real server rejects."""
    assert (tree["apiVersion"], tree["kind"]) == (api, kind)
    assert _NAME.fullmatch(tree["metadata"]["name"])
    assert tree["metadata"].get("namespace") == ("windlass" if namespaced else None)
    assert all(type(text) is str for text in tree["metadata"].get("annotations", {}).values())
    if kind in _FIELDS:
        assert set(tree["spec"]) == _FIELDS[kind]
        assert type(tree["spec"]["replicas"]) is int
        assert tree["spec"]["replicas"] >= 0
    if kind == "PriorityClass":
        assert type(tree["value"]) is int
        assert set(tree) <= {
            *("apiVersion", "kind", "metadata", "value", "globalDefault", "preemptionPolicy", "description")
        }
    if kind == "CapacityBuffer":
        assert set(tree["spec"]["podTemplateRef"]) == {"name"}
    if kind in ("Deployment", "PodTemplate"):
        template = tree["spec"]["template"] if kind == "Deployment" else tree["template"]
        if kind == "Deployment":
            wanted = tree["spec"]["selector"]["matchLabels"]
            assert wanted
            assert wanted.items() <= template["metadata"]["labels"].items()
        for container in template["spec"]["containers"]:
            assert _NAME.fullmatch(container["name"])
            assert container["image"]
            resources = container["resources"]
            assert all(_QUANTITY.fullmatch(text) for text in resources["requests"].values())
            # Extended resources cannot be overcommitted: a request needs an equal limit.
            extended = {name: text for name, text in resources["requests"].items() if "/" in name}
            assert extended == {name: resources.get("limits", {}).get(name) for name in extended}
