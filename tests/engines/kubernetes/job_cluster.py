"""A cluster in memory that runs Jobs: an API server with versions of objects, and the controllers behind it.

It is served in this process (:meth:`JobCluster.get` and :meth:`JobCluster.send`) or over HTTP (:meth:`JobCluster.ask`).
"""

from __future__ import annotations

import copy
import heapq
import itertools
import json
import threading
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qs

from tests.engines.kubernetes.between import Answer
from tests.engines.kubernetes.store import _merged
from windlass.engines.kubernetes.server import refusal

NODES, PODS, ALL_JOBS = "/api/v1/nodes", "/api/v1/pods", "/apis/batch/v1/jobs"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"
QUEUE = {"windlass/queue": "true"}


@dataclass(frozen=True, slots=True)
class Suspended:
    """A Job was suspended or resumed, at a time (s), through a request or by a user."""

    at: float
    job: str
    by: str
    suspended: bool


def jobs_path(namespace):
    return f"/apis/batch/v1/namespaces/{namespace}/jobs"


class JobCluster:
    """Nodes, Jobs and their pods.

    Parameters
    ----------
    clock
        Returns the time, s. What is due happens at the next request, with the time at which it was due.
    nodes
        Cores of each node.
    latency
        Time from the resumption of a Job until its controller starts it, s.
    """

    def __init__(self, clock, nodes, latency=0.0):
        self.clock, self.latency, self.objects = clock, latency, {}
        self.history, self.ended = [], {}
        self._numbers, self._due, self._order = itertools.count(1), [], itertools.count()
        self._lock, self.time = threading.RLock(), clock()
        self._runs = {}
        for number, cores in enumerate(nodes, 1):
            ready = {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"cpu": str(cores)}}
            self._keep(
                f"{NODES}/n{number}", {"metadata": {"name": f"n{number}"}, "spec": {}, "status": ready}
            )

    # -- what users and administrators do

    def at(self, when, call):
        """Call a function once the clock has reached `when`."""
        heapq.heappush(self._due, (when, next(self._order), call))

    def submit(
        self, name, run, pods=1, cpu="1", limit=None, queue=True, suspend=True, namespace="lab", **spec
    ):
        """Create a Job that runs for `run` seconds once all of its pods have a node."""
        with self._lock:
            self._pass_time()
            meta = {"name": name, "namespace": namespace, "labels": dict(QUEUE) if queue else {}}
            meta |= {"uid": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{namespace}/{name}/{self.time}"))}
            meta["creationTimestamp"] = stamp(self.time)
            container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
            tree = {
                "suspend": suspend,
                "parallelism": pods,
                "template": {"spec": {"containers": [container]}},
            }
            tree |= {} if limit is None else {"activeDeadlineSeconds": limit}
            path = f"{jobs_path(namespace)}/{name}"
            self._runs[path] = run
            self._keep(path, {"metadata": meta, "spec": tree | spec, "status": {}})
            if not suspend:
                self._resumed(path)
            return path

    def edit(self, path, patch, by="user"):
        """Change an object as a user; it must exist."""
        with self._lock:
            self._pass_time()
            if path in self.objects:
                self._patch(path, patch, by)

    def delete(self, path):
        """Delete an object, and the pods of a Job."""
        with self._lock:
            self._pass_time()
            if self.objects.pop(path, None) is not None:
                self._drop_pods(path)
                self._schedule()

    def cordon(self, number, away):
        """Make a node unschedulable, or schedulable again, with the taint that Kubernetes sets for it."""
        taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
        spec = {"unschedulable": True, "taints": [taint]} if away else {"unschedulable": None, "taints": None}
        self.edit(f"{NODES}/n{number}", {"spec": spec})

    def occupy(self, name, node, cpu):
        """Create a pod of another owner on a node."""
        with self._lock:
            spec = {"nodeName": node, "containers": [{"name": "x", "resources": {"requests": {"cpu": cpu}}}]}
            tree = {"metadata": {"name": name, "namespace": "other"}, "spec": spec, "status": {}}
            self._keep(f"/api/v1/namespaces/other/pods/{name}", tree)

    def jobs(self):
        """Return all Jobs by namespace and name."""
        with self._lock:
            self._pass_time()
            found = {path: tree for path, tree in self.objects.items() if "/jobs/" in path}
            return {title_of(tree): copy.deepcopy(tree) for tree in found.values()}

    def resumptions(self):
        """Return the Jobs that requests resumed, in order, with repetitions."""
        return [each.job for each in self.history if each.by == "request" and not each.suspended]

    # -- the API server

    def ask(self, requested, headers):
        """Return the answer to a request over HTTP."""
        body = json.loads(requested.body) if requested.body else None
        status, tree = self.answer(requested.method, requested.path, body)
        return Answer(status, json.dumps(tree).encode())

    def get(self, path):
        return self._in_process("GET", path, None)

    def send(self, method, path, body=None):
        return self._in_process(method, path, body)

    def answer(self, method, path, body):
        """Return the status and the body of a response."""
        path, _, query = path.partition("?")
        with self._lock:
            self._pass_time()
            if method == "GET" and (path in (NODES, PODS, ALL_JOBS) or path.endswith("/jobs")):
                return 200, self._list(path, parse_qs(query))
            if method == "POST":
                return self._create(f"{path}/{body['metadata']['name']}", body)
            if path not in self.objects:
                return 404, {"message": f"{path} not found"}
            if method == "DELETE":
                return 200, self.objects.pop(path)
            if method == "PATCH":
                version = body.get("metadata", {}).get("resourceVersion")
                if version not in (None, self.objects[path]["metadata"]["resourceVersion"]):
                    return 409, {"message": "the object has been modified"}
                self._patch(path, body, "request")
            return 200, copy.deepcopy(self.objects[path])

    def _in_process(self, method, path, body):
        status, tree = self.answer(method, path, body)
        if status >= 300:
            raise refusal(status, method, path.partition("?")[0], json.dumps(tree))
        return tree

    def _list(self, path, query):
        kinds = {PODS: "/pods/", ALL_JOBS: "/jobs/"}
        inside = kinds.get(path)
        found = [
            tree
            for at, tree in self.objects.items()
            if (inside in at if inside else at.rpartition("/")[0] == path)
        ]
        for each in query.get("labelSelector", []):
            name, _, value = each.partition("=")
            found = [tree for tree in found if (tree["metadata"].get("labels") or {}).get(name) == value]
        first, limit = int(query.get("continue", ["0"])[0]), int(query["limit"][0])
        more = {"continue": str(first + limit)} if len(found) > first + limit else {}
        return {"items": copy.deepcopy(found[first : first + limit]), "metadata": more}

    def _create(self, path, body):
        if path in self.objects:
            return 409, {"message": f"{path} exists already"}
        self._keep(path, body)
        return 201, copy.deepcopy(self.objects[path])

    def _patch(self, path, patch, by):
        before = self.objects[path]
        after = _merged(before, patch)
        after["metadata"].pop("resourceVersion")
        if after == {
            **before,
            "metadata": {k: v for k, v in before["metadata"].items() if k != "resourceVersion"},
        }:
            after["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"]
            self.objects[path] = after
            return
        self._keep(path, after)
        was, now = (tree["spec"].get("suspend") for tree in (before, after))
        if "/jobs/" in path and was != now:
            self.history.append(Suspended(self.time, title_of(after), by, bool(now)))
            if now:
                self._suspended(path)
            else:
                self._resumed(path)
        if "/nodes/" in path:
            self._schedule()

    def _keep(self, path, tree):
        tree["metadata"]["resourceVersion"] = str(next(self._numbers))
        self.objects[path] = tree

    # -- the controllers

    def _pass_time(self):
        while self._due and self._due[0][0] <= self.clock():
            when, _, call = heapq.heappop(self._due)
            self.time = max(self.time, when)
            call()
        self.time = max(self.time, self.clock())

    def _resumed(self, path):
        uid = self.objects[path]["metadata"]["uid"]
        self.at(self.time + self.latency, lambda: self._begin(path, uid))

    def _there(self, path, uid):
        tree = self.objects.get(path)
        return tree is not None and tree["metadata"]["uid"] == uid and not tree["spec"]["suspend"]

    def _begin(self, path, uid):
        if not self._there(path, uid) or self.objects[path]["status"]:
            return
        tree = copy.deepcopy(self.objects[path])
        tree["status"] = {"startTime": stamp(self.time)}
        self._keep(path, tree)
        spec, meta = tree["spec"], tree["metadata"]
        owner = [{"kind": "Job", "uid": uid, "name": meta["name"]}]
        for number in range(spec["parallelism"]):
            name = f"{meta['name']}-{number}"
            pod = {"metadata": {"name": name, "namespace": meta["namespace"], "ownerReferences": owner}}
            pod |= {"spec": copy.deepcopy(spec["template"]["spec"]), "status": {}}
            self._keep(f"/api/v1/namespaces/{meta['namespace']}/pods/{name}", pod)
        limit = spec.get("activeDeadlineSeconds")
        if limit is not None:
            self.at(self.time + limit, lambda: self._end(path, uid, "Failed"))
        self._schedule()

    def _pods_of(self, path):
        uid = self.objects[path]["metadata"]["uid"] if path in self.objects else None
        prefix = path.replace("/apis/batch/v1", "/api/v1").replace("/jobs/", "/pods/")
        for at, tree in list(self.objects.items()):
            owners = tree["metadata"].get("ownerReferences") or ()
            if at.startswith(prefix) and owners and (uid is None or owners[0]["uid"] == uid):
                yield at, tree

    def _drop_pods(self, path):
        for at, _ in self._pods_of(path):
            if at.rpartition("-")[0].rpartition("/")[2] == path.rpartition("/")[2]:
                del self.objects[at]

    def _schedule(self):
        free = {}
        for at, tree in self.objects.items():
            if at.startswith(NODES) and not tree["spec"].get("unschedulable"):
                free[tree["metadata"]["name"]] = float(tree["status"]["allocatable"]["cpu"])
        pods = [(at, tree) for at, tree in self.objects.items() if "/pods/" in at]
        for _, tree in pods:
            if tree["spec"].get("nodeName") in free:
                free[tree["spec"]["nodeName"]] -= cores_of(tree)
        for _, tree in pods:
            node = next((name for name, left in free.items() if left >= cores_of(tree)), None)
            if not tree["spec"].get("nodeName") and node is not None:
                tree["spec"]["nodeName"] = node
                free[node] -= cores_of(tree)
        for path, tree in [(path, tree) for path, tree in self.objects.items() if "/jobs/" in path]:
            mine = [pod for _, pod in self._pods_of(path)]
            status = tree["status"]
            if mine and "ready" not in status and all(pod["spec"].get("nodeName") for pod in mine):
                status["ready"] = len(mine)
                uid = tree["metadata"]["uid"]
                self.at(
                    self.time + self._runs[path], lambda path=path, uid=uid: self._end(path, uid, "Complete")
                )

    def _end(self, path, uid, how):
        if not self._there(path, uid) or "conditions" in self.objects[path]["status"]:
            return
        if "startTime" not in self.objects[path]["status"]:
            return
        tree = copy.deepcopy(self.objects[path])
        tree["status"]["conditions"] = [
            {"type": how, "status": "True", "lastTransitionTime": stamp(self.time)}
        ]
        self._keep(path, tree)
        self.ended[title_of(tree)] = self.ended.get(title_of(tree), 0) + 1
        self._drop_pods(path)
        self._schedule()

    def _suspended(self, path):
        self._drop_pods(path)
        self.objects[path]["status"] = {}
        self._schedule()


def stamp(time):
    """Return a time as the API server writes it, in whole seconds."""
    return datetime.fromtimestamp(int(time), UTC).isoformat().replace("+00:00", "Z")


def title_of(tree):
    return f"{tree['metadata']['namespace']}/{tree['metadata']['name']}"


def cores_of(pod):
    text = pod["spec"]["containers"][0]["resources"]["requests"]["cpu"]
    return float(text.removesuffix("m")) / (1000 if text.endswith("m") else 1)
