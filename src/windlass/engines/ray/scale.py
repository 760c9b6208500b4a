"""A Ray cluster with Ray's autoscaler as a system for the engine of scaling.

Ray's ``request_resources`` sets a floor on the *total* of a cluster, including resources in use. Each call replaces the
last one, of any process, so there should be a single caller. A request for more nodes of a type than its
``max_workers`` would launch none and drop the previous floor, so totals never exceed ``most`` of a type.
"""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from windlass.engines.address import host_and_port
from windlass.engines.elastic.system import ClusterError, ClusterSnapshot, SeenMachine
from windlass.model.instances import RESOURCES, InstanceType
from windlass.scale import Demands, Totals

#: Ray's names of :data:`~windlass.model.instances.RESOURCES`.
_NAMES = dict(zip(("GPU", "CPU", "memory"), range(len(RESOURCES)), strict=True))
#: Place of the cores in a vector of resources.
_CORES = _NAMES["CPU"]
#: Ray's word for a node that is being removed.
_DRAINING = "DRAINING"
Bundles = list[dict[str, float]]
#: Time limit for a connection to the head, s.
_PATIENCE_S = 5.0
#: Ray's autoscaler reports every five seconds. A node that is up for longer is no longer among those that start, s.
_REPORTED_S = 15.0


class _Arrivals:
    """Nodes that have come up since the autoscaler's last report, which still has them among those that start.

    Their names differ in both lists.
    """

    def __init__(self) -> None:
        self._first: dict[str, tuple[str, float]] | None = None

    def among(self, nodes: Mapping[str, int], version: str, now: float) -> Counter[int]:
        """Return the number of such nodes by row.

        Parameters
        ----------
        nodes
            Row of each node that is up, by its identifier.
        version
            Version of the report.
        now
            Time, s.
        """
        if self._first is None:
            # Since when they are up is unknown.
            self._first = dict.fromkeys(nodes, (version, -np.inf))
        self._first = {node: self._first.get(node, (version, now)) for node in nodes}
        return Counter(
            nodes[node]
            for node, (first, since) in self._first.items()
            if first == version and now - since <= _REPORTED_S
        )


class RayScale:
    """An :class:`~windlass.engines.elastic.system.ElasticSystem` on Ray's status and its ``request_resources``.

    Ray itself removes idle nodes after the cluster's idle timeout, down to the requested total. A busy node is never
    removed.

    Parameters
    ----------
    types
        Types of nodes, smallest first; their names are those of ``available_node_types``, and ``most`` is their
        ``max_workers``.
    status
        Returns the cluster's state, as ``ray.autoscaler.v2.sdk.get_cluster_status`` does.
    request
        Requests bundles, as ``ray.autoscaler.sdk.request_resources`` does.
    now
        Returns the time, s since 1970.
    """

    def __init__(
        self,
        types: tuple[InstanceType, ...],
        status: Callable[[], Any],
        request: Callable[[Bundles], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._types, self._status, self._request, self._now = types, status, request, now
        self._since: dict[str, float] = {}
        self._arrivals = _Arrivals()

    @property
    def types(self) -> tuple[InstanceType, ...]:
        """Types of nodes, smallest first."""
        return self._types

    def look(self) -> ClusterSnapshot:
        """Return nodes, the used resources of each, and waiting requests.

        Ray does not list running tasks: the used resources of a node count as one job, which started when the node was
        first seen busy. Its remaining time is unknown.
        """
        try:
            status = self._status()
        except Exception as error:
            raise ClusterError(f"the Ray cluster does not answer: {_line(error)}") from error
        return self._seen(status)

    def set_totals(self, totals: Totals, seen: ClusterSnapshot) -> None:
        """Request this many nodes of each type."""
        try:
            self._request(bundles(self._types, totals))
        except Exception as error:
            raise ClusterError(f"the Ray cluster does not accept a request: {_line(error)}") from error

    def describe(self, totals: Totals, seen: ClusterSnapshot) -> list[str]:
        """Return a description of the call that would be made."""
        wanted = [
            f"{count} × {_bundle(kind)}"
            for kind, count in zip(self._types, totals.counts, strict=True)
            if count
        ]
        return [f"request_resources: {', '.join(wanted) or 'nothing'}"]

    def _seen(self, status: Any) -> ClusterSnapshot:
        row_of = {kind.name: row for row, kind in enumerate(self._types)}
        ready, coming, used = (np.zeros(len(self._types), np.int64) for _ in range(3))
        running, since, now = [], [], self._now()
        machines: list[SeenMachine] = []
        busy: dict[str, float] = {}
        up: dict[str, int] = {}
        for node in [*status.active_nodes, *status.idle_nodes]:
            row = row_of.get(node.ray_node_type_name)
            if row is None:
                continue
            ready[row] += 1
            up[node.node_id] = row
            holds = _vector(node.used_resources())
            state = "leaving" if node.node_status == _DRAINING else "up"
            machines.append(SeenMachine(node.instance_id or node.node_id, row, state, float(holds[_CORES])))
            if holds.any():
                used[row] += 1
                busy[node.node_id] = self._since.get(node.node_id, now)
                running.append(holds)
                since.append(busy[node.node_id])
        self._since = busy
        twice = self._arrivals.among(up, status.stats.autoscaler_version, now)
        for node in status.pending_nodes:
            if node.ray_node_type_name in row_of:
                row = row_of[node.ray_node_type_name]
                if twice[row]:
                    twice[row] -= 1
                    continue
                coming[row] += 1
                machines.append(
                    SeenMachine(node.instance_id or f"launch {len(machines) + 1}", row, "starting")
                )
        for launch in status.pending_launches:
            if launch.ray_node_type_name in row_of:
                row, launches = row_of[launch.ray_node_type_name], int(launch.count)
                coming[row] += launches
                first = len(machines) + 1
                machines += [SeenMachine(f"launch {first + at}", row, "starting") for at in range(launches)]
        demands = status.resource_demands
        waiting = list(_waiting([*demands.ray_task_actor_demand, *demands.placement_group_demand]))
        return ClusterSnapshot(
            ready,
            coming,
            used,
            _demands(running, since),
            _demands(waiting, [now] * len(waiting)),
            tuple(sorted(machines, key=lambda each: (each.row, each.name))),
        )


@contextmanager
def connected(address: str, types: tuple[InstanceType, ...]) -> Iterator[RayScale]:
    """Open a user's cluster; nothing of it is ever stopped.

    This process does not join it: Ray ends a joined process if the head is unreachable for a minute. The head may
    therefore be replaced by another one at the same address.

    Raises
    ------
    InputError
        The address is malformed.
    """
    from ray.autoscaler.v2.sdk import get_cluster_status, request_cluster_resources

    head = host_and_port("address", address)

    def reach() -> None:
        # If no process listens there, Ray itself would wait for 40 s.
        try:
            socket.create_connection(head, _PATIENCE_S).close()
        except OSError as error:
            raise OSError(f"{address}: {error.strerror or error}") from error

    def status() -> Any:
        reach()
        return get_cluster_status(address)

    def request(wanted: Bundles) -> None:
        reach()
        request_cluster_resources(address, [{"resources": each} for each in wanted])

    yield RayScale(types, status, request)


def bundles(types: Iterable[InstanceType], totals: Totals) -> Bundles:
    """Return the resources of a cluster with this many nodes, node by node.

    >>> small = InstanceType("small", cores=4, most=2)
    >>> bundles([small], Totals((3,), ("soon",)))
    [{'CPU': 4.0}, {'CPU': 4.0}]
    """
    return [
        _bundle(kind)
        for kind, count in zip(types, totals.counts, strict=True)
        for _ in range(min(count, kind.most))
    ]


def _bundle(kind: InstanceType) -> dict[str, float]:
    return {
        name: float(value) for name, value in zip(_NAMES, kind.vector().tolist(), strict=True) if value > 0
    }


def _waiting(demands: Iterable[Any]) -> Iterable[Any]:
    for demand in demands:
        for each in demand.bundles_by_count:
            yield from [_vector(each.bundle)] * each.count


def _vector(amounts: Mapping[str, float]) -> Any:
    found = np.zeros(len(_NAMES))
    for name, row in _NAMES.items():
        found[row] = amounts.get(name, 0.0)
    return found


def _demands(vectors: list[Any], since: list[float]) -> Demands:
    count = len(vectors)
    return Demands(
        np.array(vectors, dtype=np.float64).reshape(count, len(_NAMES)),
        np.array(since, dtype=np.float64),
        np.full(count, np.inf),
    )


def _line(error: Exception) -> str:
    return " ".join((str(error) or type(error).__name__).split())
