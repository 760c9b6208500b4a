"""The cores of the nodes that Jobs may use, less those of other pods."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from windlass.engines.kubernetes.pods import is_over, node_of, quantity, requests
from windlass.engines.kubernetes.snapshot import is_leaving, is_ready

Tree = Mapping[str, Any]
#: Effects of taints that keep pods without a toleration away.
_REPELS = ("NoSchedule", "NoExecute")
#: Beginning of the taints that Kubernetes itself sets for a while, such as on cordoned and unreachable nodes.
_CONDITION = "node.kubernetes.io/"


@dataclass(frozen=True, slots=True)
class SchedulableCores:
    """Cores of a cluster, rounded down.

    Parameters
    ----------
    free
        Cores of the nodes that accept pods, less those of pods that no Job of the queue owns.
    most
        Cores of these nodes and of those that are cordoned or not ready.
    """

    free: int
    most: int


def cluster_cores(nodes: Iterable[Tree], pods: Iterable[Tree], holders: AbstractSet[str]) -> SchedulableCores:
    """Return the cores that Jobs of the queue may use.

    Nodes with a taint that repels pods do not count. A node that Kubernetes itself has tainted for its condition, such
    as a cordoned one, counts as not ready.

    Parameters
    ----------
    nodes, pods
        All objects that the server lists.
    holders
        Identifiers (``uid``) of the running Jobs of the queue; their pods are not subtracted.

    Raises
    ------
    InputError
        A quantity is invalid.

    Examples
    --------
    >>> ready = {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"cpu": "3900m"}}
    >>> node = {"metadata": {"name": "a"}, "status": ready}
    >>> other = {"spec": {"nodeName": "a", "containers": [{"resources": {"requests": {"cpu": "500m"}}}]}}
    >>> cluster_cores([node], [other], frozenset())
    SchedulableCores(free=3, most=3)
    """
    size: dict[str, float] = {}
    away: set[str] = set()
    for node in nodes:
        repelling = list(_repelling(node))
        if not all(key.startswith(_CONDITION) for key in repelling):
            continue
        name = str((node.get("metadata") or {}).get("name"))
        size[name] = quantity(((node.get("status") or {}).get("allocatable") or {}).get("cpu", "0"))
        if repelling or is_leaving(node) or not is_ready(node):
            away.add(name)
    taken = dict.fromkeys(size, 0.0)
    for pod in pods:
        where = node_of(pod)
        if where in taken and not is_over(pod) and owner_of(pod) not in holders:
            taken[where] += float(requests(pod)[1])
    free = sum(max(0.0, cores - taken[name]) for name, cores in size.items() if name not in away)
    return SchedulableCores(_whole(free), _whole(sum(size.values())))


def owner_of(pod: Tree) -> str | None:
    """Return the identifier of the Job that owns a pod; None if no Job does."""
    for owner in (pod.get("metadata") or {}).get("ownerReferences") or ():
        if owner.get("kind") == "Job":
            return str(owner.get("uid"))
    return None


def _repelling(node: Tree) -> Iterator[str]:
    """Yield the keys of a node's taints that keep pods away."""
    for taint in (node.get("spec") or {}).get("taints") or ():
        if taint.get("effect") in _REPELS:
            yield str(taint.get("key"))


def _whole(cores: float) -> int:
    # Sums of thousandths of a core are not exact.
    return math.floor(round(cores, 6))
