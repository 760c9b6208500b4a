"""The ledger sites of a cluster: sites, cameras, the cloud; and the sites as staged jobs and queries see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from windlass.experiment.worlds.cluster.sites import ClusterSiteSpec, MeasuredLinks, TierSpec
from windlass.experiment.worlds.outages import outage_times
from windlass.io.traces.wan import read_wan
from windlass.model.fleet import Fleet
from windlass.model.queries import Cluster, Hierarchy
from windlass.model.timetable import NodeTimetable

#: Name of the cluster above all sites.
_CLOUD = "cloud"


@dataclass(frozen=True, slots=True, eq=False)
class Tiers:
    """Cameras, sites and cloud for queries.

    Parameters
    ----------
    hierarchy
        Clusters, with their links.
    at
        The ledger's site of each cluster.
    keep
        Cores of each cluster that are kept for queries.
    """

    hierarchy: Hierarchy
    at: tuple[int, ...]
    keep: tuple[int, ...]


def ledger_rows(sites: Mapping[str, ClusterSiteSpec], cloud: TierSpec, units: int = 1) -> list[list[int]]:
    """Return the cores of the rows of each ledger site, in units: the sites, each camera, the cloud.

    >>> site = ClusterSiteSpec.model_validate({"nodes": [{"count": 2, "cores": 4}], "cameras": {"count": 1}})
    >>> ledger_rows({"iowa": site}, TierSpec(cores=8))
    [[4, 4], [2], [8]]
    """
    found = [site.rows() for site in sites.values()]
    for site in sites.values():
        if site.cameras is not None:
            found += [[site.cameras.cores]] * site.cameras.count
    return [[units * cores for cores in rows] for rows in (*found, [cloud.cores])]


def tiers_of(sites: Mapping[str, ClusterSiteSpec], cloud: TierSpec, some: Sequence[str]) -> Tiers:
    """Return cameras, sites and cloud for queries.

    Parameters
    ----------
    sites, cloud
        All sites, and the cloud.
    some
        The sites that have queries.

    Examples
    --------
    >>> site = ClusterSiteSpec.model_validate({"nodes": [{"count": 2, "cores": 4}], "cameras": {"count": 1}})
    >>> found = tiers_of({"iowa": site}, TierSpec(), ["iowa"])
    >>> [cluster.name for cluster in found.hierarchy.clusters], found.at
    (['iowa-1', 'iowa', 'cloud'], (1, 0, 2))
    """
    clusters: list[Cluster] = []
    at: list[int] = []
    keep: list[int] = []
    row = len(sites)
    for name, site in sites.items():
        count = 0 if site.cameras is None else site.cameras.count
        for number in range(count if name in some else 0):
            assert site.cameras is not None  # There are cameras.
            clusters.append(
                Cluster(f"{name}-{number + 1}", float(site.cameras.cores), site.cameras.up, parent=name)
            )
            at.append(row + number)
            keep.append(0)
        row += count
    for place, (name, site) in enumerate(sites.items()):
        if name in some:
            clusters.append(Cluster(name, float(sum(site.rows())), cloud.up, parent=_CLOUD))
            at.append(place)
            keep.append(site.keeps.queries)
    clusters.append(Cluster(_CLOUD, float(cloud.cores)))
    return Tiers(Hierarchy(tuple(clusters)), (*at, row), (*keep, 0))


def fleet_of(sites: Mapping[str, ClusterSiteSpec], links: MeasuredLinks | None, some: Sequence[str]) -> Fleet:
    """Return sites with links for staged jobs; all cores of a site are slots.

    Parameters
    ----------
    sites
        All sites.
    links
        Measured links, which replace those of the sites; None for none.
    some
        The sites over which the jobs run.

    Raises
    ------
    InputError
        The table of links cannot be read, or has no region of a site.

    Examples
    --------
    >>> site = ClusterSiteSpec.model_validate({"nodes": [{"count": 2, "cores": 4}]})
    >>> fleet_of({"iowa": site, "sydney": site}, None, ["iowa", "sydney"]).slots.tolist()
    [8, 8]
    """
    chosen = [sites[name] for name in some]
    slots = [sum(site.rows()) for site in chosen]
    if links is None:
        return Fleet.of(slots, [site.up for site in chosen], [site.down for site in chosen], list(some))
    regions = [site.region or name for site, name in zip(chosen, some, strict=True)]
    matrix = read_wan(links.throughput, regions, links.prices)
    pair = matrix.throughput * links.machines
    up, down = pair.max(axis=1), pair.max(axis=0)
    np.fill_diagonal(pair, np.inf)
    return Fleet.of(slots, up, down, list(some), pair, matrix.price)


def outages_of(site: ClusterSiteSpec, until: float, rng: np.random.Generator) -> NodeTimetable:
    """Return the outages of a site's nodes, drawn or listed.

    Parameters
    ----------
    site
        The site.
    until
        Outages begin before this time, s.
    rng
        The random generator.

    Raises
    ------
    InputError
        There would be more outages than the simulator accepts.

    Examples
    --------
    >>> site = ClusterSiteSpec.model_validate(
    ...     {"nodes": [{"count": 2, "cores": 4}], "outages": {"every": 50, "last": 5}})
    >>> found = outages_of(site, 100.0, np.random.default_rng(1))
    >>> set(found.cores.tolist())
    {0, 4}
    """
    groups = [(group.count, group.cores) for group in site.groups]
    return outage_times(site.outages or (), groups, until, rng)
