"""Kubernetes, as the engine of scaling needs it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from windlass.engines.elastic.system import ClusterError, ClusterSnapshot
from windlass.engines.kubernetes.headroom import Spare
from windlass.engines.kubernetes.objects import object_name
from windlass.engines.kubernetes.server import Server, items
from windlass.engines.kubernetes.snapshot import TYPE_LABEL, seen
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.scale import Totals


class KubernetesScale:
    """An :class:`~windlass.engines.elastic.system.ElasticSystem`: totals become spare instances on top of those in use.

    Nodes themselves are started and removed by the cluster's own autoscaler (cluster-autoscaler, Karpenter), as it is
    set up to. So a node with jobs on it is never in danger of this.

    Parameters
    ----------
    server
        The API server.
    types
        Which instances can be had, smallest first.
    namespace
        Where our objects are.
    label
        Of nodes: whose value is the name of a type.
    now
        Seconds since 1970.

    Raises
    ------
    InputError
        Objects of two types would have one name.
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
        self._spare = Spare(server, namespace, label)

    @property
    def types(self) -> tuple[InstanceType, ...]:
        """Which instances can be had, smallest first."""
        return self._types

    def look(self) -> ClusterSnapshot:
        """Nodes and pods as they are now.

        Raises
        ------
        ClusterError
            The server does not answer, or refuses, or says what cannot be understood.
        """
        nodes = items(self._server, "/api/v1/nodes")
        pods = items(self._server, "/api/v1/pods")
        try:
            return seen(self._types, list(nodes), list(pods), self._label, self._now())
        except InputError as error:
            raise ClusterError(str(error)) from error

    def set_totals(self, totals: Totals, seen: ClusterSnapshot) -> None:
        """Ask for what is missing, as spare on top of the instances in use."""
        self._spare.set(self._types, spare(totals, seen), totals.why)

    def describe(self, totals: Totals, seen: ClusterSnapshot) -> list[str]:
        """Which objects would ask for how many."""
        return self._spare.describe(self._types, spare(totals, seen))

    def remove(self) -> list[str]:
        """Take back all that was asked for; what was deleted."""
        return self._spare.remove()


def _check_names(types: Iterable[InstanceType]) -> None:
    named: dict[str, str] = {}
    for kind in types:
        other = named.setdefault(object_name(kind), kind.name)
        if other != kind.name:
            raise InputError(f"types {other!r} and {kind.name!r} would both be called {object_name(kind)!r}")


def spare(totals: Totals, seen: ClusterSnapshot) -> list[int]:
    """How many instances are wanted beyond those in use.

    >>> import numpy as np
    >>> none = np.zeros(2, np.int64)
    >>> from windlass.scale import Demands
    >>> found = ClusterSnapshot(none + 5, none, np.array([3, 4]), Demands.none(), Demands.none())
    >>> spare(Totals((5, 2), ("soon", "enough")), found)
    [2, 0]
    """
    return [max(0, count - int(used)) for count, used in zip(totals.counts, seen.used, strict=True)]
