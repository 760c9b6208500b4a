"""The adapter between Kubernetes and the scaling engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from windlass.engines.elastic.system import ClusterError, ClusterSnapshot
from windlass.engines.kubernetes.headroom import SpareNodes
from windlass.engines.kubernetes.objects import object_name
from windlass.engines.kubernetes.server import Server, items
from windlass.engines.kubernetes.snapshot import TYPE_LABEL, cluster_snapshot
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.scale import Totals


class KubernetesScale:
    """An :class:`~windlass.engines.elastic.system.ElasticSystem` that requests spare nodes on top of those in use.

    The cluster's own autoscaler (cluster-autoscaler, Karpenter) starts and removes the nodes, according to its
    configuration. Windlass itself removes no node, so it cannot interrupt a job.

    Parameters
    ----------
    server
        The API server.
    types
        Available types of instances, smallest first.
    namespace
        Namespace of Windlass's objects.
    label
        Label of nodes whose value is the name of a type.
    now
        Returns the current time, in seconds since 1970.

    Raises
    ------
    InputError
        The objects of two types would have the same name.
    """

    def __init__(
        self,
        server: Server,
        types: tuple[InstanceType, ...],
        *,
        namespace: str = "windlass",
        label: str = TYPE_LABEL,
        now: Callable[[], float] = time.time,
    ) -> None:
        _check_names(types)
        self._server, self._types, self._label = server, types, label
        self._now = now
        self._spare = SpareNodes(server, namespace, label)

    @property
    def types(self) -> tuple[InstanceType, ...]:
        """Available types of instances, smallest first."""
        return self._types

    def look(self) -> ClusterSnapshot:
        """Return the current state of the cluster.

        Raises
        ------
        ClusterError
            The server does not answer, rejects a request, or sends an invalid response.
        """
        nodes = items(self._server, "/api/v1/nodes")
        pods = items(self._server, "/api/v1/pods")
        try:
            return cluster_snapshot(self._types, list(nodes), list(pods), self._label, self._now())
        except InputError as error:
            raise ClusterError(str(error)) from error

    def set_totals(self, totals: Totals, seen: ClusterSnapshot) -> None:
        """Request the totals, less the instances in use, as spare nodes; ClusterError if a request fails."""
        self._spare.set(self._types, spare_counts(totals, seen), totals.why)

    def describe(self, totals: Totals, seen: ClusterSnapshot) -> list[str]:
        """Describe the requests that :meth:`set_totals` would make, one line per type."""
        return self._spare.describe(self._types, spare_counts(totals, seen))

    def remove(self) -> list[str]:
        """Delete all of Windlass's objects; return the kind and name of each deleted object."""
        return self._spare.remove()


def _check_names(types: Iterable[InstanceType]) -> None:
    names: dict[str, str] = {}
    for kind in types:
        other = names.setdefault(object_name(kind), kind.name)
        if other != kind.name:
            raise InputError(
                f"types {other!r} and {kind.name!r} would both use the object name {object_name(kind)!r}"
            )


def spare_counts(totals: Totals, seen: ClusterSnapshot) -> list[int]:
    """Return how many instances of each type to request in addition to those in use, at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> none = np.zeros(2, np.int64)
    >>> from windlass.scale import Demands
    >>> found = ClusterSnapshot(none + 5, none, np.array([3, 4]), Demands.none(), Demands.none())
    >>> spare_counts(Totals((5, 2), ("soon", "enough")), found)
    [2, 0]
    """
    return [max(0, count - int(used)) for count, used in zip(totals.counts, seen.used, strict=True)]
