"""A Ray cluster with an autoscaler of its own, as the engine of scaling needs it.

Ray's ``request_resources`` is a floor on the *total* of a cluster, what is in use included. Each call replaces the one
before, whoever made it, so there should be one owner of it: this. Asking for more nodes of a type than its
``max_workers`` would launch none at all and drop what was held, so totals are never above ``most`` of a type.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from windlass.engines.address import host_and_port
from windlass.engines.elastic.system import ClusterError, ClusterSnapshot
from windlass.model.instances import RESOURCES, InstanceType
from windlass.scale import Demands, Totals

#: What Ray calls :data:`~windlass.model.instances.RESOURCES`.
_NAMES = dict(zip(("GPU", "CPU", "memory"), range(len(RESOURCES)), strict=True))
Bundles = list[dict[str, float]]
#: A head that is there takes a connection within so long, s.
_PATIENCE_S = 5.0


class RayScale:
    """An :class:`~windlass.engines.elastic.system.ElasticSystem` by Ray's status and its ``request_resources``.

    Ray removes idle nodes by itself, after the idle time that the cluster is set up with, down to what is asked for. A
    node that works is never removed.

    Parameters
    ----------
    types
        Types of nodes, smallest first; their names are those of ``available_node_types``, and ``most`` is their
        ``max_workers``.
    status
        Says how the cluster is: what ``ray.autoscaler.v2.sdk.get_cluster_status`` returns.
    request
        Asks for bundles, as ``ray.autoscaler.sdk.request_resources`` does.
    now
        Seconds since 1970.
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

    @property
    def types(self) -> tuple[InstanceType, ...]:
        """Types of nodes, smallest first."""
        return self._types

    def look(self) -> ClusterSnapshot:
        """Nodes, what is used of each, and what waits.

        Ray does not say which tasks run: what is used of a node counts as one job, since the node was first seen to be
        busy. How long anything will run nobody says.
        """
        try:
            status = self._status()
        except Exception as error:
            raise ClusterError(f"the Ray cluster does not answer: {_line(error)}") from error
        return self._seen(status)

    def set_totals(self, totals: Totals, seen: ClusterSnapshot) -> None:
        """Have Ray hold so many nodes of each type."""
        try:
            self._request(bundles(self._types, totals))
        except Exception as error:
            raise ClusterError(f"the Ray cluster does not take a request: {_line(error)}") from error

    def describe(self, totals: Totals, seen: ClusterSnapshot) -> list[str]:
        """The call that would be made."""
        asked = [
            f"{count} × {_bundle(kind)}"
            for kind, count in zip(self._types, totals.counts, strict=True)
            if count
        ]
        return [f"request_resources: {', '.join(asked) or 'nothing'}"]

    def _seen(self, status: Any) -> ClusterSnapshot:
        row_of = {kind.name: row for row, kind in enumerate(self._types)}
        ready, coming, used = (np.zeros(len(self._types), np.int64) for _ in range(3))
        running, since, now = [], [], self._now()
        busy: dict[str, float] = {}
        for node in [*status.active_nodes, *status.idle_nodes]:
            row = row_of.get(node.ray_node_type_name)
            if row is None:
                continue
            ready[row] += 1
            holds = _vector(node.used_resources())
            if holds.any():
                used[row] += 1
                busy[node.node_id] = self._since.get(node.node_id, now)
                running.append(holds)
                since.append(busy[node.node_id])
        self._since = busy
        for node in status.pending_nodes:
            if node.ray_node_type_name in row_of:
                coming[row_of[node.ray_node_type_name]] += 1
        for launch in status.pending_launches:
            if launch.ray_node_type_name in row_of:
                coming[row_of[launch.ray_node_type_name]] += launch.count
        demands = status.resource_demands
        waiting = list(_waiting([*demands.ray_task_actor_demand, *demands.placement_group_demand]))
        return ClusterSnapshot(
            ready, coming, used, _demands(running, since), _demands(waiting, [now] * len(waiting))
        )


@contextmanager
def connected(address: str, types: tuple[InstanceType, ...]) -> Iterator[RayScale]:
    """A cluster that somebody else runs; nothing of it is ever stopped.

    This process does not join it: Ray ends a process that has joined when the head is away for a minute. So the head
    may go, and another one may come at the same address.

    Raises
    ------
    InputError
        The address is none.
    """
    from ray.autoscaler.v2.sdk import get_cluster_status, request_cluster_resources

    head = host_and_port("--address", address)

    def reach() -> None:
        # Ray itself would wait for 40 s where nobody listens.
        try:
            socket.create_connection(head, _PATIENCE_S).close()
        except OSError as error:
            raise OSError(f"{address}: {error.strerror or error}") from error

    def status() -> Any:
        reach()
        return get_cluster_status(address)

    def request(asked: Bundles) -> None:
        reach()
        request_cluster_resources(address, [{"resources": each} for each in asked])

    yield RayScale(types, status, request)


def bundles(types: Iterable[InstanceType], totals: Totals) -> Bundles:
    """What a cluster of so many nodes has, node by node.

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
