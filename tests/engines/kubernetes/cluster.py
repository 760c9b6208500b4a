"""The rest of a cluster next to its API server: pods arrive, are scheduled and end; nodes follow the requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import yaml

from tests.engines.kubernetes.things import node, pod
from windlass.engines.kubernetes.server import ApiServer, items

NAMESPACE = "windlass"
NODES, PODS = "/api/v1/nodes", "/api/v1/namespaces/default/pods"
BUFFERS = "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/{}/capacitybuffers"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{}/deployments"
TEMPLATES = "/api/v1/namespaces/{}/podtemplates"
PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
OURS = {"app.kubernetes.io/managed-by": "windlass"}
#: Types of nodes: cores, and how many there may be.
CORES = {"small": 4, "large": 8}
MOST = {"small": 8, "large": 4}
#: A file of these types.
TYPES = yaml.safe_dump(
    {"types": [{"name": name, "cores": CORES[name], "most": MOST[name], "launch": 1.0} for name in CORES]}
)
LABEL = "node.kubernetes.io/instance-type"
Tree = dict[str, Any]


def kind_of(cores: int) -> str:
    """The smallest type that a job fits on."""
    return min((name for name in CORES if cores <= CORES[name]), key=CORES.__getitem__)


def cores_of(thing: Tree) -> int:
    """Return the request of a pod of one container, in whole cores."""
    output = str(thing["spec"]["containers"][0]["resources"]["requests"]["cpu"])
    return int(output.removesuffix("m")) // 1000 if output.endswith("m") else int(output)


def used(nodes: Iterable[Tree], pods: Iterable[Tree]) -> dict[str, int]:
    """How many nodes of each type hold a pod."""
    busy = {each["spec"].get("nodeName") for each in pods}
    kinds = [each["metadata"]["labels"][LABEL] for each in nodes if each["metadata"]["name"] in busy]
    return {name: kinds.count(name) for name in CORES}


def waiting(pods: Iterable[Tree]) -> dict[str, int]:
    """Cores that pods without a node ask for, by the type that each fits on."""
    found = dict.fromkeys(CORES, 0)
    for each in pods:
        if not each["spec"].get("nodeName"):
            found[kind_of(cores_of(each))] += cores_of(each)
    return found


class Cluster:
    """Pods and nodes, with the cluster's own scheduler and autoscaler.

    Parameters
    ----------
    server
        Its API server, with all permissions.
    bind
        Binds a pod to a node, in the way of this server.
    buffers
        Whether it has CapacityBuffers.
    """

    def __init__(self, server: ApiServer, bind: Callable[[str, str], None], buffers: bool) -> None:
        self.server, self.bind, self.buffers = server, bind, buffers
        self._made = 0

    @property
    def path(self) -> str:
        """Path of the objects that request spare nodes."""
        return BUFFERS if self.buffers else DEPLOYMENTS

    def requested(self, namespace: str = NAMESPACE) -> dict[str, int]:
        """Return the number of spare nodes of each type that Windlass's objects request."""
        found = items(self.server, self.path.format(namespace))
        spares = {each["metadata"]["name"]: each["spec"]["replicas"] for each in found if ours(each)}
        return {name: spares.get(f"windlass-{name}", 0) for name in CORES}

    def submit(self, cores: int) -> str:
        """Create a waiting pod."""
        self._made += 1
        name = f"job-{self._made}"
        self.server.send("POST", PODS, pod(name, str(cores)))
        return name

    def end(self, name: str) -> None:
        """Delete a pod."""
        self.server.send("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")

    def pods(self) -> list[Tree]:
        """All of them."""
        return list(items(self.server, PODS))

    def nodes(self) -> list[Tree]:
        """All of them."""
        return list(items(self.server, NODES))

    def follow(self) -> None:
        """Create as many nodes as are used and requested, and schedule pods where there is room.

        Only a node that is empty is taken away, as no autoscaler of a cluster takes away another one.
        """
        nodes, pods = self.nodes(), self.pods()
        busy = {each["spec"].get("nodeName") for each in pods}
        for kind, spare in self.requested().items():
            names = [each["metadata"]["name"] for each in nodes if each["metadata"]["labels"][LABEL] == kind]
            empty = [name for name in names if name not in busy]
            for name in empty[spare:]:
                self.server.send("DELETE", f"{NODES}/{name}")
            for _ in range(min(spare - len(empty), MOST[kind] - len(names))):
                self._made += 1
                self.server.send("POST", NODES, node(f"{kind}-{self._made}", kind))
        self._schedule(pods)

    def _schedule(self, pods: list[Tree]) -> None:
        free = {each["metadata"]["name"]: CORES[each["metadata"]["labels"][LABEL]] for each in self.nodes()}
        for each in pods:
            if each["spec"].get("nodeName"):
                free[each["spec"]["nodeName"]] -= cores_of(each)
        for each in pods:
            wide = cores_of(each)
            # Best fit: large nodes stay free for large pods, and the maximum of a type is not reached.
            fits = [(left, name) for name, left in free.items() if left >= wide]
            where = min(fits)[1] if fits else None
            if not each["spec"].get("nodeName") and where is not None:
                self.bind(each["metadata"]["name"], where)
                free[where] -= wide


class Load:
    """Random arrivals and ends of pods."""

    def __init__(self, cluster: Cluster, rng: np.random.Generator) -> None:
        self._cluster, self._rng, self.live = cluster, rng, []

    def change(self) -> None:
        """End some pods and submit some; at most a dozen at once."""
        ending = self._rng.random(len(self.live)) < 0.3
        for name in [name for name, ends in zip(self.live, ending, strict=True) if ends]:
            self._cluster.end(name)
            self.live.remove(name)
        for _ in range(min(int(self._rng.integers(0, 5)), 12 - len(self.live))):
            self.live.append(self._cluster.submit(int(self._rng.choice([1, 2, 3, 6]))))


def ours(thing: Tree) -> bool:
    """True if an object has Windlass's label."""
    return OURS.items() <= (thing["metadata"].get("labels") or {}).items()
