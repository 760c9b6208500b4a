"""An emulated API server: it stores objects, and answers the requests of an autoscaler and a cluster."""

from __future__ import annotations

import copy
import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.engines.kubernetes.between import Answer, ApiRequest

Tree = dict[str, Any]
_LISTS = {
    "/api/v1/nodes": "Node",
    "/api/v1/pods": "Pod",
    "/apis/scheduling.k8s.io/v1/priorityclasses": "PriorityClass",
}
_NAMESPACED = {
    "/api/v1": ("pods", "podtemplates"),
    "/apis/apps/v1": ("deployments",),
    "/apis/coordination.k8s.io/v1": ("leases",),
}
_BUFFERS = "/apis/autoscaling.x-k8s.io"
_DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/capacitybuffers.autoscaling.x-k8s.io"
_ALL_PODS = "/api/v1/pods"


class Store:
    """Objects by their paths. Every change has its own number; every client is allowed."""

    def __init__(self, buffers: bool = True) -> None:
        self._objects: dict[str, Tree] = {}
        self._numbers, self._lock = itertools.count(1), threading.Lock()
        self._collections = {api: set(names) for api, names in _NAMESPACED.items()}
        self._buffers, self._is_away = buffers, False
        if buffers:
            self._collections[f"{_BUFFERS}/v1beta1"] = {"capacitybuffers"}

    @contextmanager
    def away(self) -> Iterator[None]:
        """Close every connection meanwhile."""
        self._is_away = True
        try:
            yield
        finally:
            self._is_away = False

    def ask(self, requested: ApiRequest, headers: dict[str, str]) -> Answer:
        """Return the answer to a request."""
        if self._is_away:
            return Answer(0, b"")
        path = requested.path.partition("?")[0]
        body = json.loads(requested.body) if requested.body else {}
        with self._lock:
            status, tree = self._answer(requested.method, path, body)
            return Answer(status, json.dumps(tree).encode())

    def _answer(self, method: str, path: str, body: Tree) -> tuple[int, Tree]:
        if path == _BUFFERS and self._buffers:
            return 200, {"preferredVersion": {"version": "v1beta1"}}
        if path == _DEFINITION and self._buffers:
            return 200, {"metadata": {"name": path.rpartition("/")[2]}}
        if self._is_list(path):
            return self._create(path, body) if method == "POST" else (200, self._list(path))
        found = self._objects.get(path)
        if found is None:
            return 404, {"message": f"{path} not found"}
        if method == "DELETE":
            del self._objects[path]
        if method == "PATCH":
            version = body.get("metadata", {}).get("resourceVersion")
            if version not in (None, found["metadata"]["resourceVersion"]):
                return 409, {"message": f"{path} has been modified"}
            return 200, self._keep(path, _merged(found, body))
        return 200, found

    def _is_list(self, path: str) -> bool:
        api, _, rest = path.partition("/namespaces/")
        return path in _LISTS or rest.partition("/")[2] in self._collections.get(api, ())

    def _list(self, path: str) -> Tree:
        if path == _ALL_PODS:
            return {"items": [each for at, each in self._objects.items() if "/pods/" in at]}
        return {"items": [each for at, each in self._objects.items() if at.rpartition("/")[0] == path]}

    def _create(self, path: str, body: Tree) -> tuple[int, Tree]:
        name = f"{path}/{body['metadata']['name']}"
        if name in self._objects:
            return 409, {"message": f"{name} is there already"}
        return 201, self._keep(name, body)

    def _keep(self, path: str, tree: Tree) -> Tree:
        tree["metadata"]["resourceVersion"] = str(next(self._numbers))
        self._objects[path] = tree
        return tree


def _merged(before: Any, patch: Any) -> Any:
    """Merge as in RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    found = copy.deepcopy(before) if isinstance(before, dict) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = _merged(found.get(name), value)
    return found
