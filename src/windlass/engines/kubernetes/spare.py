"""Writes what asks for spare instances, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes import objects
from windlass.engines.kubernetes.objects import Kind
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
        self._version: str | None = None
        self._asked = False

    def set(self, kinds: Sequence[InstanceType], counts: Sequence[int], why: Sequence[str]) -> None:
        """So many spare instances of each type from now on.

        Raises
        ------
        ClusterError
            The server does not answer, or refuses; or an object of that name is somebody else's. What was asked for
            before stands; types before it may have been written.
        """
        version = self._buffers()
        self._ensure(objects.PRIORITY_KIND, objects.PRIORITY_CLASS, objects.priority_class())
        for kind, count, reason in zip(kinds, counts, why, strict=True):
            name = objects.object_name(kind)
            if version is None:
                wanted = objects.deployment(self._namespace, kind, self._label, count, reason)
                self._size(objects.DEPLOYMENT, name, wanted, count, reason)
            else:
                template = objects.pod_template(self._namespace, kind, self._label)
                self._ensure(objects.POD_TEMPLATE, name, template)
                wanted = objects.buffer(version, self._namespace, kind, count, reason)
                self._size(objects.buffer_kind(version), name, wanted, count, reason)

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
            for found in list(items(self._server, kind.list_path(self._namespace))):
                name = str((found.get("metadata") or {}).get("name"))
                if is_ours(found):
                    self._server.send("DELETE", kind.one(self._namespace, name))
                    gone.append(f"{kind.kind} {name}")
        return gone

    def _buffers(self) -> str | None:
        """The version of CapacityBuffers that the server prefers; None where it has none."""
        if not self._asked:
            try:
                group = self._server.get(f"/apis/{objects.BUFFERS}")
                self._version = str((group.get("preferredVersion") or {}).get("version") or "v1beta1")
            except MissingError:
                self._version = None
            self._asked = True
        return self._version

    def _ensure(self, kind: Kind, name: str, wanted: Tree) -> None:
        if self._find(kind, name) is None:
            self._server.send("POST", kind.list_path(self._namespace), wanted)

    def _size(self, kind: Kind, name: str, wanted: Tree, count: int, why: str) -> None:
        found = self._find(kind, name)
        if found is None:
            self._server.send("POST", kind.list_path(self._namespace), wanted)
        elif (found.get("spec") or {}).get("replicas") != count:
            self._server.send("PATCH", kind.one(self._namespace, name), objects.resize(count, why))

    def _find(self, kind: Kind, name: str) -> Tree | None:
        """An object of ours; None where there is none of that name."""
        try:
            found = self._server.get(kind.one(self._namespace, name))
        except MissingError:
            return None
        if not is_ours(found):
            label = "=".join(next(iter(objects.OWNER.items())))
            raise ClusterError(f"{kind.kind} {name} is not Windlass's, without the label {label}; left alone")
        return found
