"""The objects that ask for spare instances: a CapacityBuffer for each type, or Deployments that hold places.

A buffer is *spare on top of what runs*, and is filled up again as jobs take it. Where the cluster has no
CapacityBuffer, a Deployment of pods that sleep holds the places. Their priority is the lowest at which an autoscaler
still adds nodes for them, so that any job takes their place at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.model.instances import InstanceType

Tree = dict[str, Any]
#: What marks an object as Windlass's own; nothing without it is ever written to.
OWNER = {"app.kubernetes.io/managed-by": "windlass"}
WHY = "windlass/why"
#: Of what kind the pods are; objects that say something else are made anew.
SHAPE = "windlass/shape"
BUFFERS = "autoscaling.x-k8s.io"
#: Where a server keeps that it has CapacityBuffers, which it knows from its first answer on.
BUFFERS_DEFINITION = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/capacitybuffers.{BUFFERS}"
PRIORITY_CLASS = "windlass-placeholder"
#: Lower than this, the cluster autoscaler takes pods for expendable, and adds no node for them.
PRIORITY = -10
_SLEEPER = "registry.k8s.io/pause:3.10"


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """Where objects of a kind are: ``path`` may hold ``{namespace}``."""

    api: str
    kind: str
    path: str

    def list_path(self, namespace: str) -> str:
        """Of all of them."""
        return self.path.format(namespace=namespace)

    def one(self, namespace: str, name: str) -> str:
        """Of one."""
        return f"{self.list_path(namespace)}/{name}"


DEPLOYMENT = ObjectKind("apps/v1", "Deployment", "/apis/apps/v1/namespaces/{namespace}/deployments")
POD_TEMPLATE = ObjectKind("v1", "PodTemplate", "/api/v1/namespaces/{namespace}/podtemplates")
PRIORITY_KIND = ObjectKind(
    "scheduling.k8s.io/v1", "PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses"
)


def buffer_kind(version: str) -> ObjectKind:
    """CapacityBuffers in the version that a server prefers."""
    return ObjectKind(
        f"{BUFFERS}/{version}",
        "CapacityBuffer",
        f"/apis/{BUFFERS}/{version}/namespaces/{{namespace}}/capacitybuffers",
    )


def object_name(kind: InstanceType) -> str:
    """What objects of a type are called; names of types may hold what names of objects may not.

    >>> object_name(InstanceType("Standard_D4s.v5", cores=4))
    'windlass-standard-d4s-v5'
    """
    signs = "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in kind.name.lower())
    return f"windlass-{signs}"[:63].rstrip("-")


def buffer(version: str, namespace: str, kind: InstanceType, count: int, why: str) -> Tree:
    """A CapacityBuffer of so many spare instances."""
    spec = {"podTemplateRef": {"name": object_name(kind)}, "replicas": count}
    return _object(buffer_kind(version), namespace, object_name(kind), spec=spec, why=why)


def pod_template(namespace: str, kind: InstanceType, label: str) -> Tree:
    """What one spare instance is to a CapacityBuffer."""
    found = _object(POD_TEMPLATE, namespace, object_name(kind), template=_template(kind, label))
    found["metadata"]["annotations"] = {SHAPE: shape(kind, label)}
    return found


def deployment(namespace: str, kind: InstanceType, label: str, count: int, why: str) -> Tree:
    """Pods that hold so many instances, and go as soon as a job needs the place."""
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
    """What pods that hold an instance ask for, in a line.

    >>> shape(InstanceType("small", cores=4, memory=16e9), "type")
    'type=small cpu=4000m memory=16000000000 image=registry.k8s.io/pause:3.10'
    """
    asked = {label: kind.name, **_requests(kind), "image": _SLEEPER}
    return " ".join(f"{name}={value}" for name, value in asked.items())


def priority_class() -> Tree:
    """Of pods that hold places."""
    return {
        **_object(PRIORITY_KIND, None, PRIORITY_CLASS),
        "value": PRIORITY,
        "globalDefault": False,
        "preemptionPolicy": "Never",
        "description": "Pods of Windlass that hold places for jobs.",
    }


def resize(count: int, why: str) -> Tree:
    """The patch that makes a buffer, or a Deployment, of another size."""
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
            "containers": [
                {"name": "sleeper", "image": _SLEEPER, "resources": {"requests": _requests(kind)}}
            ],
        },
    }


def _requests(kind: InstanceType) -> Mapping[str, str]:
    """As pods write what a whole instance has; GPUs are only given where they are a limit, too."""
    asked = {
        "cpu": f"{round(1000 * kind.cores)}m",
        "memory": str(int(kind.memory)),
        "nvidia.com/gpu": str(int(kind.gpus)),
    }
    return {name: text for name, text in asked.items() if text not in ("0", "0m")}
