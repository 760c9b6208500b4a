"""Writes what asks for spare instances, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any

from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes import objects
from windlass.engines.kubernetes.objects import ObjectKind
from windlass.engines.kubernetes.pods import is_ours
from windlass.engines.kubernetes.server import MissingError, Server, items
from windlass.model.instances import InstanceType

Tree = dict[str, Any]


class Spare:
    """Objects of ours in one namespace.

    Where the server knows CapacityBuffers they are used, else Deployments of pods that hold places.

    Parameters
    ----------
    server
        Whose objects they are.
    namespace
        Where.
    label
        Of nodes: whose value is the name of a type.
    """

    def __init__(self, server: Server, namespace: str, label: str) -> None:
        self._server, self._namespace, self._label = server, namespace, label

    def set(self, kinds: Sequence[InstanceType], counts: Sequence[int], why: Sequence[str]) -> None:
        """So many spare instances of each type from now on.

        What is ours and stands for nothing any more is deleted at the end: objects of types that are gone, and
        Deployments where there are CapacityBuffers now.

        Raises
        ------
        ClusterError
            The server does not answer, or refuses; or an object of that name is somebody else's. What was asked for
            before stands; types before it may have been written.
        """
        version = self._buffers()
        self._ensure_priority()
        deployments, templates = self._there(objects.DEPLOYMENT), self._there(objects.POD_TEMPLATE)
        buffers = {} if version is None else self._there(objects.buffer_kind(version))
        for kind, count, reason in zip(kinds, counts, why, strict=True):
            if version is None:
                wanted = objects.deployment(self._namespace, kind, self._label, count, reason)
                self._shape(objects.DEPLOYMENT, deployments, wanted)
                self._size(objects.DEPLOYMENT, deployments, wanted, count, reason)
            else:
                template = objects.pod_template(self._namespace, kind, self._label)
                self._shape(objects.POD_TEMPLATE, templates, template)
                wanted = objects.buffer(version, self._namespace, kind, count, reason)
                self._size(objects.buffer_kind(version), buffers, wanted, count, reason)
        names = {objects.object_name(kind) for kind in kinds}
        if version is None:
            self._drop(objects.DEPLOYMENT, deployments, names)
        else:
            self._drop(objects.buffer_kind(version), buffers, names)
            self._drop(objects.POD_TEMPLATE, templates, names)
            self._drop(objects.DEPLOYMENT, deployments, set())

    def describe(self, kinds: Sequence[InstanceType], counts: Sequence[int]) -> list[str]:
        """What :meth:`set` would write, a line each."""
        version = self._buffers()
        kind_of = objects.DEPLOYMENT if version is None else objects.buffer_kind(version)
        return [
            f"{kind_of.kind} {self._namespace}/{objects.object_name(kind)}: {count} spare"
            for kind, count in zip(kinds, counts, strict=True)
        ]

    def remove(self) -> list[str]:
        """Delete all that is ours; what was deleted."""
        version = self._buffers()
        kinds = [objects.DEPLOYMENT, objects.POD_TEMPLATE, objects.PRIORITY_KIND]
        if version is not None:
            kinds.insert(0, objects.buffer_kind(version))
        gone = []
        for kind in kinds:
            for name, found in self._there(kind).items():
                if is_ours(found):
                    self._delete(kind, name)
                    gone.append(f"{kind.kind} {name}")
        return gone

    def _buffers(self) -> str | None:
        """The version of CapacityBuffers that the server prefers; None where it has none.

        Asked each time, as it may get them. One that has just come up says for a while that there is no such group,
        though it has it: what it has defined tells.
        """
        try:
            group = self._server.get(f"/apis/{objects.BUFFERS}")
        except MissingError:
            self._check_undefined()
            return None
        return str((group.get("preferredVersion") or {}).get("version") or "v1beta1")

    def _check_undefined(self) -> None:
        try:
            self._server.get(objects.BUFFERS_DEFINITION)
        except MissingError:
            return
        raise ClusterError("the server has the definition of CapacityBuffers, but does not serve them yet")

    def _there(self, kind: ObjectKind) -> dict[str, Tree]:
        """All objects of a kind in the namespace, by name, ours or not."""
        found = items(self._server, kind.list_path(self._namespace))
        return {str((each.get("metadata") or {}).get("name")): each for each in found}

    def _ensure_priority(self) -> None:
        kind = objects.PRIORITY_KIND
        try:
            found = self._server.get(kind.one(self._namespace, objects.PRIORITY_CLASS))
        except MissingError:
            self._server.send("POST", kind.list_path(self._namespace), objects.priority_class())
        else:
            _check_ours(kind, objects.PRIORITY_CLASS, found)

    def _shape(self, kind: ObjectKind, there: dict[str, Tree], wanted: Tree) -> None:
        """Have an object there whose pods are of this shape; one of another shape is made anew."""
        name = wanted["metadata"]["name"]
        found = there.get(name)
        if found is not None:
            _check_ours(kind, name, found)
            if _shape_of(found) == _shape_of(wanted):
                return
            self._delete(kind, name)
        there[name] = self._server.send("POST", kind.list_path(self._namespace), wanted)

    def _size(self, kind: ObjectKind, there: dict[str, Tree], wanted: Tree, count: int, why: str) -> None:
        name = wanted["metadata"]["name"]
        found = there.get(name)
        if found is None:
            self._server.send("POST", kind.list_path(self._namespace), wanted)
            return
        _check_ours(kind, name, found)
        if (found.get("spec") or {}).get("replicas") != count:
            self._server.send("PATCH", kind.one(self._namespace, name), objects.resize(count, why))

    def _drop(self, kind: ObjectKind, there: dict[str, Tree], wanted: AbstractSet[str]) -> None:
        for name, found in there.items():
            if is_ours(found) and name not in wanted:
                self._delete(kind, name)

    def _delete(self, kind: ObjectKind, name: str) -> None:
        # Somebody else may have been quicker.
        with suppress(MissingError):
            self._server.send("DELETE", kind.one(self._namespace, name))


def _shape_of(thing: Tree) -> str | None:
    said = ((thing.get("metadata") or {}).get("annotations") or {}).get(objects.SHAPE)
    return None if said is None else str(said)


def _check_ours(kind: ObjectKind, name: str, found: Tree) -> None:
    if not is_ours(found):
        label = "=".join(next(iter(objects.OWNER.items())))
        raise ClusterError(f"{kind.kind} {name} is not Windlass's, without the label {label}; left alone")
