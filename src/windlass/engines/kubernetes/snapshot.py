"""Nodes and pods as the engine of scaling sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from windlass.engines.elastic.system import ClusterSnapshot
from windlass.engines.kubernetes import pods as of
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.scale import Demands

#: The label by which nodes say of which type they are.
TYPE_LABEL = "node.kubernetes.io/instance-type"
#: A node that is not ready so long after it was made, s, is broken: the cluster autoscaler of Kubernetes waits as long.
STARTS_WITHIN_S = 900.0
Tree = Mapping[str, Any]


def seen(
    types: Sequence[InstanceType],
    nodes: Iterable[Tree],
    pods: Iterable[Tree],
    label: str = TYPE_LABEL,
    now: float = 0.0,
) -> ClusterSnapshot:
    """A cluster at one instant.

    Pods that come with each node, that have ended, or that hold places for others are no jobs. Jobs on nodes of other
    types than these are none of ours, and neither are these nodes.

    A node that is not ready is coming, but for one that holds a job: it was up, is cut off for a while, and is in use.
    One that takes no more jobs, or that was not ready within :data:`STARTS_WITHIN_S`, is none at all.

    Parameters
    ----------
    types
        Which instances can be had.
    nodes, pods
        As the server lists them.
    label
        Of nodes: whose value is the name of a type.
    now
        Seconds since 1970.

    Raises
    ------
    InputError
        A pod asks for a quantity that is none; names it.

    Examples
    --------
    >>> small = InstanceType("small", cores=4)
    >>> ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    >>> node = {"metadata": {"name": "a", "labels": {TYPE_LABEL: "small"}}, "status": ready}
    >>> asks = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
    >>> submitted = {"creationTimestamp": "2026-01-01T00:00:00Z"}
    >>> found = seen([small], [node], [{"metadata": submitted, "spec": asks}])
    >>> found.ready.tolist(), found.used.tolist(), found.waiting.resources.tolist()
    ([1], [0], [[0.0, 1.0, 0.0]])
    """
    row_of = {kind.name: row for row, kind in enumerate(types)}
    type_of, node_of = {}, {}
    for node in nodes:
        meta = node.get("metadata") or {}
        row = row_of.get(str((meta.get("labels") or {}).get(label)))
        if row is not None:
            type_of[str(meta.get("name"))] = row
            node_of[str(meta.get("name"))] = node
    running, waiting, busy = [], [], set()
    for pod in pods:
        node_name = of.node_of(pod)
        if of.is_over(pod) or not of.is_job(pod):
            continue
        if node_name is None:
            waiting.append(pod)
        elif node_name in type_of:
            running.append(pod)
            busy.add(node_name)
    ready, coming, used = (np.zeros(len(types), np.int64) for _ in range(3))
    for name, row in type_of.items():
        holds = name in busy
        if _leaves(node_of[name]):
            continue
        up = holds or _ready(node_of[name])
        ready[row] += up
        used[row] += holds
        coming[row] += not up and _starts(node_of[name], now)
    return ClusterSnapshot(ready, coming, used, _demands(running), _demands(waiting))


def _leaves(node: Tree) -> bool:
    """Whether it takes no more jobs."""
    deleted = (node.get("metadata") or {}).get("deletionTimestamp")
    return bool(deleted or (node.get("spec") or {}).get("unschedulable"))


def _ready(node: Tree) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _starts(node: Tree, now: float) -> bool:
    made = (node.get("metadata") or {}).get("creationTimestamp")
    return made is None or now - of.instant(made) < STARTS_WITHIN_S


def _demands(pods: Sequence[Tree]) -> Demands:
    rows = []
    for pod in pods:
        try:
            rows.append((of.since(pod), of.walltime(pod), of.requests(pod)))
        except InputError as error:
            raise InputError(f"pod {of.name_of(pod)}: {error}") from error
    rows.sort(key=lambda row: row[0])
    return Demands(
        of.stacked(row[2] for row in rows),
        np.array([row[0] for row in rows], dtype=np.float64),
        np.array([row[1] for row in rows], dtype=np.float64),
    )
