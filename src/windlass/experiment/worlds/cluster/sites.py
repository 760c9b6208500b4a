"""The sites of a cluster scenario: nodes, instances, cameras, outages, links, and cores that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from windlass.experiment.worlds.composition import without
from windlass.experiment.worlds.elastic.spec import ElasticClusterSpec
from windlass.experiment.worlds.outages import NodeOutages, check_outages
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec
from windlass.model.limits import WORKERS

#: Up- and downlink of a site that gives none, bytes/s: 10 Gbit/s.
_LINK = 1.25e9


class NodeGroup(Spec):
    """A number of identical nodes.

    ``speed`` is the rate of a core for short tasks, work/s; ``rate`` is that of a whole node, instead.
    """

    count: Annotated[int, Field(ge=1)]
    cores: Annotated[int, Field(ge=1)]
    speed: Positive = 1.0
    rate: Positive | None = None

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        if self.rate is not None and "speed" in self.model_fields_set:
            raise ValueError("expected speed or rate, found both")
        return self

    @model_serializer(mode="wrap")
    def _without_default_speed(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit the speed of a core where a rate is given, as a saved scenario is read again."""
        found: dict[str, Any] = handler(self)
        return found if self.rate is None else without(found, "speed")

    @property
    def node_rate(self) -> float:
        """The rate of a node for short tasks, work/s."""
        return self.cores * self.speed if self.rate is None else self.rate


class SiteInstances(ElasticClusterSpec):
    """Elastic instances, as in the elastic world; each has whole cores, which other loads use too.

    ``base``: instances of each type in variants without ``scale``; by default a quarter of the largest ``most``.
    """

    base: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _whole_cores(self) -> Self:
        for place, each in enumerate(self.types):
            if each.cores < 1 or each.cores != int(each.cores):
                raise ValueError(
                    f"types.{place}.cores is {each.cores:g}, expected whole cores, at least 1, as nodes have"
                )
        return self

    @property
    def kept(self) -> int:
        """Instances of each type in variants without ``scale``."""
        return max(each.most for each in self.types) // 4 if self.base is None else self.base


class SiteCameras(Spec):
    """The cameras of a site: their number, the cores of each, and the uplink of each, bytes/s."""

    count: Annotated[int, Field(ge=1)]
    cores: Annotated[int, Field(ge=0)] = 2
    up: NotNegative = 75e3


class KeptCores(Spec):
    """Cores that no other load may take: a share of each node for short tasks, and a number of cores for queries."""

    tasks: Annotated[float, Field(ge=0, lt=1)] = 0.0
    queries: Annotated[int, Field(ge=0)] = 0


class SpeedChangesSpec(Spec):
    """Changes of the nodes' speeds for short tasks.

    ``shocks_every``: interval at which the speeds are permuted, s. ``drift``: a log of benchmark scores, stretched over
    the time of the tasks, that speeds follow.
    """

    shocks_every: Positive | None = None
    drift: Path | None = None


class ClusterSiteSpec(Spec):
    """A site: ``nodes``, ``processors`` or ``instances``.

    ``nodes`` are always there, except for ``outages``, drawn or listed; ``speed_changes`` are those of their speeds for
    short tasks, without instances. ``processors`` are the cores of a site that is one node; the
    policy of ``scale`` launches ``instances``. ``up`` and ``down``: links to other sites, bytes/s. ``region``: the
    site's name in a table of measured links. ``keeps``: cores that are kept for a kind of load. ``memory_per_core``:
    bytes; jobs that share cores share their memory.
    """

    nodes: tuple[NodeGroup, ...] = ()
    processors: Annotated[int, Field(ge=1)] | None = None
    instances: SiteInstances | None = None
    cameras: SiteCameras | None = None
    outages: NodeOutages | None = None
    speed_changes: SpeedChangesSpec | None = None
    keeps: KeptCores = KeptCores()
    up: Positive = _LINK
    down: Positive = _LINK
    region: str = ""
    memory_per_core: Positive = 4e9

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        if self.nodes and self.processors is not None:
            raise ValueError("expected nodes or processors, found both")
        if not self.groups and self.instances is None:
            raise ValueError("nodes: missing, expected nodes, processors or instances")
        kinds = () if self.instances is None else self.instances.kinds()
        # Before there is a row for each.
        WORKERS.check(self.count + sum(kind.most for kind in kinds), "nodes and instances")
        if self.cameras is not None:
            WORKERS.check(self.cameras.count, "cameras")
        check_outages(self.outages or (), self.rows()[: self.count])
        if self.groups and self.keeps.queries >= self.left:
            raise ValueError(
                f"keeps.queries is {self.keeps.queries}, expected fewer than the {self.left} cores that keeps.tasks "
                "leaves"
            )
        return self

    @property
    def groups(self) -> tuple[NodeGroup, ...]:
        """The nodes; ``processors`` are one node.

        >>> ClusterSiteSpec(processors=8).groups[0].cores
        8
        """
        return self.nodes if self.processors is None else (NodeGroup(count=1, cores=self.processors),)

    def rows(self) -> list[int]:
        """Return the cores of each node and each possible instance."""
        found = [group.cores for group in self.groups for _ in range(group.count)]
        if self.instances is not None:
            for kind in self.instances.kinds():
                found += [int(kind.cores)] * kind.most
        return found

    def speeds(self) -> NDArray[np.float64]:
        """Return the rate of each node and each instance for short tasks, work/s."""
        of_nodes = [group.node_rate for group in self.groups for _ in range(group.count)]
        return np.array([*of_nodes, *self.rows()[len(of_nodes) :]], np.float64)

    @property
    def count(self) -> int:
        """Number of nodes without instances."""
        return sum(group.count for group in self.groups)

    @property
    def capacity(self) -> float:
        """Rate of all nodes for short tasks, without instances, work/s."""
        return float(self.speeds()[: self.count].sum())

    @property
    def left(self) -> int:
        """Cores of all nodes that are not kept for short tasks, without instances."""
        of_nodes = np.array(self.rows()[: self.count], np.int64)
        return int((of_nodes - np.ceil(self.keeps.tasks * of_nodes)).sum())

    @property
    def for_jobs(self) -> int:
        """Cores of all nodes that rigid jobs may take, without instances."""
        return self.left - self.keeps.queries


class MeasuredLinks(Spec):
    """Links from a table of measured throughput between regions.

    ``machines`` of a site multiply the measured throughput of one pair of machines.
    """

    throughput: Path
    prices: Path | None = None
    machines: Positive = 1.0


class TierSpec(Spec):
    """The cloud above all sites, where components of queries run: its cores, and each site's uplink to it, bytes/s."""

    cores: Annotated[int, Field(ge=1)] = 64
    up: NotNegative = 625e3


#: Fields of which a site has one; its own replaces that of the other site.
_NODES = frozenset({"nodes", "processors"})


def _of_nodes(field: str, own: Mapping[str, Any]) -> bool:
    """Return whether a field of another site has the nodes, where a site has its own."""
    return field in _NODES and bool(_NODES & own.keys())


def resolve_like(given: Any) -> Any:
    """Return sites in which ``like: other`` is replaced by the fields of the other site, below their own.

    Parameters
    ----------
    given
        The value of ``sites``; a value that is no mapping is returned as it is, for the validator to report.

    Raises
    ------
    ValueError
        ``like`` names no site, or a site that itself has ``like``.

    Examples
    --------
    >>> resolve_like({"a": {"up": 5}, "b": {"like": "a", "down": 6}})
    {'a': {'up': 5}, 'b': {'up': 5, 'down': 6}}
    """
    if not isinstance(given, Mapping):
        return given
    found = {}
    for name, site in given.items():
        if isinstance(site, Mapping) and "like" in site:
            model = given.get(site["like"])
            if not isinstance(model, Mapping) or "like" in model:
                raise ValueError(
                    f"sites.{name}.like is {site['like']!r}, expected another site that has no 'like'"
                )
            inherited = {field: value for field, value in model.items() if not _of_nodes(field, site)}
            site = {**inherited, **{field: value for field, value in site.items() if field != "like"}}
        found[name] = site
    return found
