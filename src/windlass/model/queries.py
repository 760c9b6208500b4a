"""Streaming queries, the plans by which each could run, and the clusters where its components could be.

A *query* is a chain of components, such as a decoder, a detector and an associator, on the stream of one camera. A
*plan* fixes what each component does. Clusters are a tree: a camera's parent is, say, a private cluster, and that one's
the cloud.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.errors import InputError
from windlass.model.values import number

#: What each cluster has, in the order in which :attr:`Hierarchy.resources` lists it.
KINDS = ("cores", "up", "down")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where components can run: a camera, a private cluster, the cloud.

    Parameters
    ----------
    name
        As users call it.
    cores
        Number of cores; 0 for a camera that only sends, infinity for no limit.
    up
        Bandwidth to its parent, bytes/s.
    down
        What can come in from all its children together, bytes/s.
    parent
        The name of the cluster above; None for a root.

    Raises
    ------
    InputError
        There is no name, or a number is negative or not a number.

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
    """Clusters as trees, each with the cores and links that it has.

    Parameters
    ----------
    clusters
        In any order.

    Raises
    ------
    InputError
        There is no cluster, two have one name, a parent is not there, or a cluster is above itself.

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
            raise InputError("a hierarchy has no clusters, expected one at least")
        names = [cluster.name for cluster in self.clusters]
        for name in names:
            if names.count(name) > 1:
                raise InputError(
                    f"cluster {name} is there {names.count(name)} times, expected each name once"
                )
        for cluster in self.clusters:
            if cluster.parent is not None and cluster.parent not in names:
                raise InputError(f"cluster {cluster.name}: there is no parent {cluster.parent!r}")
        for name in names:
            self.path(name)

    def path(self, name: str) -> tuple[int, ...]:
        """Where data of a cluster can go: its own index, its parent's, and so on up to the root's.

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
                raise InputError(f"cluster {name}: it is above itself, expected a tree")
            found.append(index[at])
            at = self.clusters[index[at]].parent
        return tuple(found)

    @property
    def resources(self) -> tuple[str, ...]:
        """(L,) what can run short, cluster by cluster: its cores, what it sends, what it takes in."""
        return tuple(f"{cluster.name}.{kind}" for cluster in self.clusters for kind in KINDS)

    def capacity(self) -> NDArray[np.float64]:
        """(L,) how much there is of each: cores, and bytes/s."""
        return np.array(
            [getattr(cluster, kind) for cluster in self.clusters for kind in KINDS], dtype=np.float64
        )


@dataclass(frozen=True, slots=True)
class Component:
    """One step of a query, as a plan has it.

    Parameters
    ----------
    name
        What it does, knobs included, such as ``detect MOG2 480p``. Components of equal names, after equal ones, on one
        camera do the same work, and can be merged.
    cores
        CPU seconds a second of the stream.
    output
        What it hands on, bytes/s.
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
        From 0 to 1, wherever its components run.
    components
        The chain, first to last.
    """

    accuracy: float
    components: tuple[Component, ...]

    def __post_init__(self) -> None:
        if not self.components:
            raise InputError("a plan has no components, expected one at least")
        names = ", ".join(component.name for component in self.components)
        number(f"plan {names}: accuracy", self.accuracy, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Query:
    """A query on a camera's stream, with the plans that answer it.

    Parameters
    ----------
    name
        As users call it.
    camera
        The cluster at which its stream is born.
    plans
        One at least.
    source
        What the first component takes in, bytes/s.

    Raises
    ------
    InputError
        There is no name or no plan, or ``source`` is negative or not finite.

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

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a query has no name")
        if not self.plans:
            raise InputError(f"query {self.name}: it has no plans, expected one at least")
        number(f"query {self.name}: source", self.source, 0.0)
