"""Streaming queries, the alternative plans of each, and the clusters where their components can run.

A *query* is a chain of components, such as a decoder, a detector and an associator, on the stream of one camera. A
*plan* fixes what each component does. Clusters form a tree: a camera's parent can be a private cluster, whose parent is
the cloud.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.errors import InputError
from windlass.model.values import number

#: Resources of each cluster, in the order of :attr:`Hierarchy.resources`.
KINDS = ("cores", "up", "down")


@dataclass(frozen=True, slots=True)
class Cluster:
    """A place where components can run: a camera, a private cluster, or the cloud.

    Parameters
    ----------
    name
        The name of the cluster.
    cores
        Number of cores; 0 for a camera that only sends, infinity for no limit.
    up
        Bandwidth to its parent, bytes/s.
    down
        Bandwidth from all its children together, bytes/s.
    parent
        The name of the cluster above; None for a root.

    Raises
    ------
    InputError
        The name is empty, or a number is negative or NaN.

    Examples
    --------
    >>> Cluster("private", cores=3, up=375e3, parent="cloud").down
    inf
    """

    name: str
    cores: float
    up: float = math.inf
    down: float = math.inf
    parent: str | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a cluster has no name")
        for kind in KINDS:
            value = getattr(self, kind)
            if not value >= 0:
                raise InputError(f"cluster {self.name}: {kind} is {value}, expected 0 or more")


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One or more trees of clusters, with their cores and links.

    Parameters
    ----------
    clusters
        All clusters, in any order.

    Raises
    ------
    InputError
        There is no cluster, a name occurs twice, a parent does not exist, or a cluster is its own ancestor.

    Examples
    --------
    >>> tiers = Hierarchy((Cluster("camera", 0, parent="cloud"), Cluster("cloud", 40)))
    >>> tiers.path("camera")
    (0, 1)
    >>> tiers.resources
    ('camera.cores', 'camera.up', 'camera.down', 'cloud.cores', 'cloud.up', 'cloud.down')
    """

    clusters: tuple[Cluster, ...]

    def __post_init__(self) -> None:
        if not self.clusters:
            raise InputError("a hierarchy has no clusters, expected at least one")
        names = [cluster.name for cluster in self.clusters]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"cluster {name} appears {names.count(name)} times, expected each name once")
        for cluster in self.clusters:
            if cluster.parent is not None and cluster.parent not in names:
                raise InputError(f"cluster {cluster.name}: its parent {cluster.parent!r} does not exist")
        for name in names:
            self.path(name)

    def path(self, name: str) -> tuple[int, ...]:
        """Return the path of a cluster's data: its own index, its parent's, and so on up to the root's.

        Raises
        ------
        InputError
            There is no such cluster.
        """
        index = {cluster.name: at for at, cluster in enumerate(self.clusters)}
        if name not in index:
            raise InputError(f"there is no cluster {name!r}, expected one of {', '.join(index)}")
        found: list[int] = []
        at: str | None = name
        while at is not None:
            if index[at] in found:
                raise InputError(f"cluster {name}: the chain of its parents is a cycle, expected a tree")
            found.append(index[at])
            at = self.clusters[index[at]].parent
        return tuple(found)

    @property
    def resources(self) -> tuple[str, ...]:
        """(L,) names of all resources, cluster by cluster: cores, uplink, downlink."""
        return tuple(f"{cluster.name}.{kind}" for cluster in self.clusters for kind in KINDS)

    def capacity(self) -> NDArray[np.float64]:
        """Return (L,) the amount of each resource: cores, and bytes/s."""
        return np.array(
            [getattr(cluster, kind) for cluster in self.clusters for kind in KINDS], dtype=np.float64
        )


@dataclass(frozen=True, slots=True)
class Component:
    """One step of a query in a plan.

    Parameters
    ----------
    name
        Its work and settings, such as ``detect MOG2 480p``. Components with equal names that follow equal components on
        the same camera do the same work and can be merged.
    cores
        CPU seconds per second of the stream.
    output
        Output rate, bytes/s.
    """

    name: str
    cores: float
    output: float

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a component has no name")
        number(f"component {self.name}: cores", self.cores, 0.0)
        number(f"component {self.name}: output", self.output, 0.0)


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """One way to run a query.

    Parameters
    ----------
    accuracy
        Accuracy of its results, from 0 to 1; it does not depend on where the components run.
    components
        The chain of components, first to last.
    """

    accuracy: float
    components: tuple[Component, ...]

    def __post_init__(self) -> None:
        if not self.components:
            raise InputError("a plan has no components, expected at least one")
        names = ", ".join(component.name for component in self.components)
        number(f"plan {names}: accuracy", self.accuracy, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Query:
    """A query on a camera's stream, with its alternative plans.

    Parameters
    ----------
    name
        The name of the query.
    camera
        The cluster where its stream originates.
    plans
        Its plans, at least one.
    source
        Input rate of the first component, bytes/s.
    to_root
        Whether the output of the last component is sent on to the root of the hierarchy.

    Raises
    ------
    InputError
        The name is empty, there is no plan, or ``source`` is negative or not finite.

    Examples
    --------
    >>> plan = QueryPlan(0.6, (Component("detect", 2.0, 125e3), Component("associate", 2.0, 0.0)))
    >>> Query("cars", "camera", (plan,), source=125e3).plans[0].accuracy
    0.6
    """

    name: str
    camera: str
    plans: tuple[QueryPlan, ...]
    source: float = 0.0
    to_root: bool = False

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a query has no name")
        if not self.plans:
            raise InputError(f"query {self.name} has no plans, expected at least one")
        number(f"query {self.name}: source", self.source, 0.0)
