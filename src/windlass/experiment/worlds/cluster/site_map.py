"""The sites of a finished run with their use, and the flows between them, by load."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from windlass.experiment.worlds.cluster.layout import tiers_of
from windlass.experiment.worlds.cluster.results import ClusterRun, LoadResult
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.results import SiteFlow, SiteMap, SiteUse
from windlass.sim.queries.result import Streamed


def site_map(setting: ClusterSetting, done: ClusterRun) -> SiteMap:
    """Return the sites, the cloud if there are queries, and what moved between them.

    Flows are input that staged jobs read from other sites, results of components of queries that sites send to the
    cloud, and short tasks that a site spilled. Cameras belong to their site, so that what they send is no flow.

    Parameters
    ----------
    setting
        The scenario's variant.
    done
        The results of all parts.
    """
    samples = done.samples[0].result
    held, capacity = samples.held.sum(axis=0), samples.capacity.sum(axis=0)
    sites = [
        SiteUse(name, float(samples.capacity[:, place].mean()), float(held[place] / max(capacity[place], 1)))
        for place, name in enumerate(setting.sites)
    ]
    sites += [_cloud(setting, each.result, samples.end) for each in done.queries]
    flows = [*_staged(done), *_spilled(done)]
    for each in done.queries:
        flows += _to_cloud(setting, each)
    return SiteMap(tuple(sites), tuple(flows))


def _cloud(setting: ClusterSetting, done: Streamed, seconds: float) -> SiteUse:
    cores = setting.cloud_for_queries.cores
    core_seconds = float(done.course.seconds @ done.course.held[:, -1])
    return SiteUse("cloud", float(cores), core_seconds / (cores * seconds))


def _staged(done: ClusterRun) -> Iterator[SiteFlow]:
    for each in done.staged:
        names = each.result.fleet.names
        for source, target in np.argwhere(each.result.carried > 0.0).tolist():
            sent = float(each.result.carried[source, target])
            yield SiteFlow(each.load, names[source], names[target], sent)


def _spilled(done: ClusterRun) -> Iterator[SiteFlow]:
    for each in done.tasks:
        # Targets are the other sites of the load, in order.
        others = [other.site for other in done.tasks if other.load == each.load and other.site != each.site]
        ran_at = each.result.site
        for place, count in enumerate(np.bincount(ran_at[ran_at >= 0]).tolist()):
            if count:
                yield SiteFlow(each.load, each.site, others[place], tasks=count)


def _to_cloud(setting: ClusterSetting, done: LoadResult[Streamed]) -> Iterator[SiteFlow]:
    some = setting.sites_of(setting.loads[done.load])
    clusters = tiers_of(setting.sites, setting.cloud_for_queries, some).hierarchy.clusters
    course = done.result.course
    for cluster, sent in zip(clusters, (course.seconds @ course.sent).tolist(), strict=True):
        if cluster.name in some and sent > 0.0:
            yield SiteFlow(done.load, cluster.name, "cloud", sent)
