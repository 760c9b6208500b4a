"""The objects that request spare nodes: for each type a CapacityBuffer, or a Deployment of placeholder pods.

A CapacityBuffer counts spare nodes *on top of those in use*, and is refilled as jobs occupy them. Without
CapacityBuffers, a Deployment of sleeping pods reserves the nodes. The pods' priority is the lowest for which an
autoscaler still adds nodes, so that any job preempts them at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.model.instances import InstanceType

Tree = dict[str, Any]
#: Label of Windlass's objects; an object without it is never changed.
OWNER = {"app.kubernetes.io/managed-by": "windlass"}
#: Annotation with the reason of a request.
WHY = "windlass/why"
#: Annotation with the shape of the pods; an object with another shape is recreated.
SHAPE = "windlass/shape"
#: API group of CapacityBuffers.
BUFFERS = "autoscaling.x-k8s.io"
#: Path of the definition of CapacityBuffers, which a server reports from its first response on.
BUFFERS_DEFINITION = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/capacitybuffers.{BUFFERS}"
PRIORITY_CLASS = "windlass-placeholder"
#: The cluster autoscaler regards pods with a lower priority as expendable, and adds no nodes for them.
PRIORITY = -10
_SLEEPER = "registry.k8s.io/pause:3.10"


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """A kind of object, with its API version and its path on the server, which may contain ``{namespace}``."""

    api: str
    kind: str
    path: str

    def list_path(self, namespace: str) -> str:
        """Return the path of all objects of this kind."""
        return self.path.format(namespace=namespace)

    def object_path(self, namespace: str, name: str) -> str:
        """Return the path of one object."""
        return f"{self.list_path(namespace)}/{name}"


DEPLOYMENT = ObjectKind("apps/v1", "Deployment", "/apis/apps/v1/namespaces/{namespace}/deployments")
POD_TEMPLATE = ObjectKind("v1", "PodTemplate", "/api/v1/namespaces/{namespace}/podtemplates")
PRIORITY_KIND = ObjectKind(
    "scheduling.k8s.io/v1", "PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses"
)


def buffer_kind(version: str) -> ObjectKind:
    """Return the kind of CapacityBuffers in a version of their API."""
    return ObjectKind(
        f"{BUFFERS}/{version}",
        "CapacityBuffer",
        f"/apis/{BUFFERS}/{version}/namespaces/{{namespace}}/capacitybuffers",
    )


def object_name(kind: InstanceType) -> str:
    """Return the name of the objects of a type; characters that Kubernetes does not allow become hyphens.

    Examples
    --------
    >>> object_name(InstanceType("Standard_D4s.v5", cores=4))
    'windlass-standard-d4s-v5'
    """
    signs = "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in kind.name.lower())
    return f"windlass-{signs}"[:63].rstrip("-")


def buffer(version: str, namespace: str, kind: InstanceType, count: int, why: str) -> Tree:
    """Return a CapacityBuffer of ``count`` spare nodes."""
    spec = {"podTemplateRef": {"name": object_name(kind)}, "replicas": count}
    return _object(buffer_kind(version), namespace, object_name(kind), spec=spec, why=why)


def pod_template(namespace: str, kind: InstanceType, label: str) -> Tree:
    """Return the PodTemplate of a CapacityBuffer; a pod of it occupies one node."""
    found = _object(POD_TEMPLATE, namespace, object_name(kind), template=_template(kind, label))
    found["metadata"]["annotations"] = {SHAPE: shape(kind, label)}
    return found


def deployment(namespace: str, kind: InstanceType, label: str, count: int, why: str) -> Tree:
    """Return a Deployment of placeholder pods that reserve ``count`` nodes until jobs preempt them."""
    name = object_name(kind)
    template = _template(kind, label)
    template["metadata"]["labels"] = {**OWNER, "windlass/holds": name}
    spec = {
        "replicas": count,
        "selector": {"matchLabels": {"windlass/holds": name}},
        "template": template,
    }
    found = _object(DEPLOYMENT, namespace, name, spec=spec, why=why)
    found["metadata"]["annotations"][SHAPE] = shape(kind, label)
    return found


def shape(kind: InstanceType, label: str) -> str:
    """Return node selector, requests and image of the pods that occupy one node, as one line.

    Examples
    --------
    >>> shape(InstanceType("small", cores=4, memory=16e9), "type")
    'type=small cpu=4000m memory=16000000000 image=registry.k8s.io/pause:3.10'
    """
    parts = {label: kind.name, **_requests(kind), "image": _SLEEPER}
    return " ".join(f"{name}={value}" for name, value in parts.items())


def priority_class() -> Tree:
    """Return the PriorityClass of placeholder pods."""
    return {
        **_object(PRIORITY_KIND, None, PRIORITY_CLASS),
        "value": PRIORITY,
        "globalDefault": False,
        "preemptionPolicy": "Never",
        "description": "Placeholder pods of Windlass, which reserve nodes for jobs.",
    }


def resize(count: int, why: str) -> Tree:
    """Return the patch that changes the size of a CapacityBuffer or a Deployment."""
    return {"metadata": {"annotations": {WHY: why}}, "spec": {"replicas": count}}


def _object(kind: ObjectKind, namespace: str | None, name: str, why: str | None = None, **rest: Any) -> Tree:
    meta: Tree = {"name": name, "labels": dict(OWNER)}
    if namespace is not None:
        meta["namespace"] = namespace
    if why is not None:
        meta["annotations"] = {WHY: why}
    return {"apiVersion": kind.api, "kind": kind.kind, "metadata": meta, **rest}


def _template(kind: InstanceType, label: str) -> Tree:
    return {
        "metadata": {"labels": dict(OWNER)},
        "spec": {
            "nodeSelector": {label: kind.name},
            "priorityClassName": PRIORITY_CLASS,
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "containers": [{"name": "sleeper", "image": _SLEEPER, "resources": _resources(kind)}],
        },
    }


def _resources(kind: InstanceType) -> Tree:
    """Return requests and limits; Kubernetes refuses a pod whose request of an extended resource has no equal limit."""
    requests = _requests(kind)
    limits = {name: amount for name, amount in requests.items() if "/" in name}
    return {"requests": requests, **({"limits": limits} if limits else {})}


def _requests(kind: InstanceType) -> Mapping[str, str]:
    """Return the requests of a pod that occupies a whole node; resources that the type does not have are left out."""
    amounts = {
        "cpu": f"{round(1000 * kind.cores)}m",
        "memory": str(int(kind.memory)),
        "nvidia.com/gpu": str(int(kind.gpus)),
    }
    return {name: text for name, text in amounts.items() if text not in ("0", "0m")}
