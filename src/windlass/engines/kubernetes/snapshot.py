"""The state of a cluster, computed from its nodes and pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from windlass.engines.elastic.system import ClusterSnapshot, SeenMachine
from windlass.engines.kubernetes.pods import (
    instant,
    is_job,
    is_over,
    name_of,
    node_of,
    requests,
    since,
    stack,
    walltime,
)
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.scale import Demands

#: Label of nodes whose value is the instance type.
TYPE_LABEL = "node.kubernetes.io/instance-type"
#: Age at which a node that is not ready counts as broken, s; the cluster autoscaler of Kubernetes uses the same limit.
STARTS_WITHIN_S = 900.0
Tree = Mapping[str, Any]


def cluster_snapshot(
    types: Sequence[InstanceType],
    nodes: Iterable[Tree],
    pods: Iterable[Tree],
    label: str = TYPE_LABEL,
    now: float = 0.0,
) -> ClusterSnapshot:
    """Return the state of a cluster at one time.

    Pods that have ended, pods of DaemonSets, static pods and placeholders are not jobs. Nodes whose type is not in
    ``types``, and jobs on them, are ignored.

    A node that is not ready counts as coming. If it holds a job, it was ready before and is unreachable for a while, so
    it counts as ready and in use. A node that accepts no more jobs, or that is still not ready after
    :data:`STARTS_WITHIN_S`, does not count.

    Parameters
    ----------
    types
        Available types of instances.
    nodes, pods
        All objects that the server lists.
    label
        Label of nodes whose value is the name of a type.
    now
        Current time, in seconds since 1970.

    Raises
    ------
    InputError
        A request or a timestamp of a pod or node is invalid; for a pod, the message names it.

    Examples
    --------
    >>> small = InstanceType("small", cores=4)
    >>> ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    >>> node = {"metadata": {"name": "a", "labels": {TYPE_LABEL: "small"}}, "status": ready}
    >>> spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
    >>> submitted = {"creationTimestamp": "2026-01-01T00:00:00Z"}
    >>> found = cluster_snapshot([small], [node], [{"metadata": submitted, "spec": spec}])
    >>> found.ready.tolist(), found.used.tolist(), found.waiting.resources.tolist()
    ([1], [0], [[0.0, 1.0, 0.0]])
    >>> found.machines
    (SeenMachine(name='a', row=0, state='up', held=0.0),)
    """
    row_of = {kind.name: row for row, kind in enumerate(types)}
    row_by_node, objects = {}, {}
    for node in nodes:
        meta = node.get("metadata") or {}
        row = row_of.get(str((meta.get("labels") or {}).get(label)))
        if row is not None:
            row_by_node[str(meta.get("name"))] = row
            objects[str(meta.get("name"))] = node
    running, waiting, jobs = [], [], dict[str, list[Tree]]()
    for pod in pods:
        node_name = node_of(pod)
        if is_over(pod) or not is_job(pod):
            continue
        if node_name is None:
            waiting.append(pod)
        elif node_name in row_by_node:
            running.append(pod)
            jobs.setdefault(node_name, []).append(pod)
    ready, coming, used = (np.zeros(len(types), np.int64) for _ in range(3))
    for name, row in row_by_node.items():
        holds = name in jobs
        if is_leaving(objects[name]):
            continue
        up = holds or is_ready(objects[name])
        ready[row] += up
        used[row] += holds
        coming[row] += not up and _is_starting(objects[name], now)
    demands = _demands(running)
    machines = [
        SeenMachine(name, row, _state(objects[name], name in jobs, now), _cores(jobs.get(name, ())))
        for name, row in sorted(row_by_node.items(), key=lambda each: (each[1], each[0]))
    ]
    return ClusterSnapshot(ready, coming, used, demands, _demands(waiting), tuple(machines))


def _state(node: Tree, holds: bool, now: float) -> str:
    """Return the state of a node in a word."""
    if is_leaving(node):
        return "leaving" if (node.get("metadata") or {}).get("deletionTimestamp") else "drained"
    if is_ready(node):
        return "up"
    if holds:
        return "unreachable"
    return "starting" if _is_starting(node, now) else "down"


def _cores(pods: Iterable[Tree]) -> float:
    return float(sum(requests(pod)[1] for pod in pods))


def is_leaving(node: Tree) -> bool:
    """Return whether a node accepts no more jobs: it is cordoned or being deleted."""
    deleted = (node.get("metadata") or {}).get("deletionTimestamp")
    return bool(deleted or (node.get("spec") or {}).get("unschedulable"))


def is_ready(node: Tree) -> bool:
    """Return whether a node reports that it is ready."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _is_starting(node: Tree, now: float) -> bool:
    created = (node.get("metadata") or {}).get("creationTimestamp")
    return created is None or now - instant(created) < STARTS_WITHIN_S


def _demands(pods: Sequence[Tree]) -> Demands:
    rows = []
    for pod in pods:
        try:
            rows.append((since(pod), walltime(pod), requests(pod)))
        except InputError as error:
            raise InputError(f"pod {name_of(pod)}: {error}") from error
    rows.sort(key=lambda row: row[0])
    return Demands(
        stack(row[2] for row in rows),
        np.array([row[0] for row in rows], dtype=np.float64),
        np.array([row[1] for row in rows], dtype=np.float64),
    )
