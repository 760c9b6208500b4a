"""Creation, update and deletion of the objects that request spare nodes; no other objects are written."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any

from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes import objects
from windlass.engines.kubernetes.objects import ObjectKind
from windlass.engines.kubernetes.pods import is_managed
from windlass.engines.kubernetes.server import MissingError, Server, items
from windlass.model.instances import InstanceType

Tree = dict[str, Any]


class SpareNodes:
    """Windlass's objects in one namespace that request spare nodes.

    They are CapacityBuffers if the server supports them, and otherwise Deployments of placeholder pods.

    Parameters
    ----------
    server
        The API server.
    namespace
        Namespace of the objects.
    label
        Label of nodes whose value is the name of a type.
    """

    def __init__(self, server: Server, namespace: str, label: str) -> None:
        self._server, self._namespace, self._label = server, namespace, label

    def set(self, kinds: Sequence[InstanceType], counts: Sequence[int], why: Sequence[str]) -> None:
        """Request ``counts`` spare nodes of the types ``kinds``, each for the reason in ``why``.

        Windlass's obsolete objects are deleted at the end: those of types that are no longer listed, Deployments if
        the server supports CapacityBuffers now, and templates of pods if it does not any more.

        Raises
        ------
        ClusterError
            The server does not answer or rejects a request, or an object with a required name is not Windlass's.
            Objects of the types before it may have been updated; later ones are unchanged.
        """
        version = self._buffers()
        self._ensure_priority()
        deployments, templates = self._existing(objects.DEPLOYMENT), self._existing(objects.POD_TEMPLATE)
        buffers = {} if version is None else self._existing(objects.buffer_kind(version))
        for kind, count, reason in zip(kinds, counts, why, strict=True):
            if version is None:
                wanted = objects.deployment(self._namespace, kind, self._label, count, reason)
                self._ensure_shape(objects.DEPLOYMENT, deployments, wanted)
                self._set_size(objects.DEPLOYMENT, deployments, wanted, count, reason)
            else:
                template = objects.pod_template(self._namespace, kind, self._label)
                self._ensure_shape(objects.POD_TEMPLATE, templates, template)
                wanted = objects.buffer(version, self._namespace, kind, count, reason)
                self._set_size(objects.buffer_kind(version), buffers, wanted, count, reason)
        names = {objects.object_name(kind) for kind in kinds}
        if version is None:
            self._delete_stale(objects.DEPLOYMENT, deployments, names)
            self._delete_stale(objects.POD_TEMPLATE, templates, set())
        else:
            self._delete_stale(objects.buffer_kind(version), buffers, names)
            self._delete_stale(objects.POD_TEMPLATE, templates, names)
            self._delete_stale(objects.DEPLOYMENT, deployments, set())

    def describe(self, kinds: Sequence[InstanceType], counts: Sequence[int]) -> list[str]:
        """Describe the requests that :meth:`set` would make, one line per type."""
        version = self._buffers()
        kind_of = objects.DEPLOYMENT if version is None else objects.buffer_kind(version)
        return [
            f"{kind_of.kind} {self._namespace}/{objects.object_name(kind)}: {count} spare"
            for kind, count in zip(kinds, counts, strict=True)
        ]

    def remove(self) -> list[str]:
        """Delete all of Windlass's objects; return the kind and name of each deleted object."""
        version = self._buffers()
        kinds = [objects.DEPLOYMENT, objects.POD_TEMPLATE, objects.PRIORITY_KIND]
        if version is not None:
            kinds.insert(0, objects.buffer_kind(version))
        gone = []
        for kind in kinds:
            for name, found in self._existing(kind).items():
                if is_managed(found):
                    self._delete(kind, name)
                    gone.append(f"{kind.kind} {name}")
        return gone

    def _buffers(self) -> str | None:
        """Return the server's preferred version of CapacityBuffers; None if it does not support them.

        This is not cached, as support may be installed later. A server that has just started reports for a while that
        the API group does not exist although it does, so the definition of the resource is checked as well.
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

    def _existing(self, kind: ObjectKind) -> dict[str, Tree]:
        """Return all objects of a kind in the namespace by name, including those that are not Windlass's."""
        found = items(self._server, kind.list_path(self._namespace))
        return {str((each.get("metadata") or {}).get("name")): each for each in found}

    def _ensure_priority(self) -> None:
        kind = objects.PRIORITY_KIND
        try:
            found = self._server.get(kind.object_path(self._namespace, objects.PRIORITY_CLASS))
        except MissingError:
            self._server.send("POST", kind.list_path(self._namespace), objects.priority_class())
        else:
            _check_ours(kind, objects.PRIORITY_CLASS, found)

    def _ensure_shape(self, kind: ObjectKind, existing: dict[str, Tree], wanted: Tree) -> None:
        """Ensure that an object exists whose pods have this shape; recreate an object with another shape."""
        name = wanted["metadata"]["name"]
        found = existing.get(name)
        if found is not None:
            _check_ours(kind, name, found)
            if _shape_of(found) == _shape_of(wanted):
                return
            self._delete(kind, name)
        existing[name] = self._server.send("POST", kind.list_path(self._namespace), wanted)

    def _set_size(
        self, kind: ObjectKind, existing: dict[str, Tree], wanted: Tree, count: int, why: str
    ) -> None:
        name = wanted["metadata"]["name"]
        found = existing.get(name)
        if found is None:
            self._server.send("POST", kind.list_path(self._namespace), wanted)
            return
        _check_ours(kind, name, found)
        if (found.get("spec") or {}).get("replicas") != count:
            self._server.send("PATCH", kind.object_path(self._namespace, name), objects.resize(count, why))

    def _delete_stale(self, kind: ObjectKind, existing: dict[str, Tree], wanted: AbstractSet[str]) -> None:
        for name, found in existing.items():
            if is_managed(found) and name not in wanted:
                self._delete(kind, name)

    def _delete(self, kind: ObjectKind, name: str) -> None:
        # A user or a controller may have deleted the object already.
        with suppress(MissingError):
            self._server.send("DELETE", kind.object_path(self._namespace, name))


def _shape_of(thing: Tree) -> str | None:
    shape = ((thing.get("metadata") or {}).get("annotations") or {}).get(objects.SHAPE)
    return None if shape is None else str(shape)


def _check_ours(kind: ObjectKind, name: str, found: Tree) -> None:
    if not is_managed(found):
        label = "=".join(next(iter(objects.OWNER.items())))
        raise ClusterError(
            f"{kind.kind} {name} is not Windlass's: it lacks the label {label}; left unchanged"
        )
