"""The latency of a frame under a configuration, without queueing."""

from __future__ import annotations

from windlass.engines.streams.executor import QueryFeed
from windlass.model.queries import Hierarchy
from windlass.plan.configurations import Configurations


def seconds_a_frame(feed: QueryFeed, options: Configurations, choice: int, hierarchy: Hierarchy) -> float:
    """Return the work of each component for a frame, in sequence, and the transfers between their clusters.

    A frame crosses all links between two clusters at once, portion by portion, so the slowest link determines the time.

    Parameters
    ----------
    feed
        The query and its rate.
    options, choice
        The configuration.
    hierarchy
        The clusters and their links.

    Returns
    -------
    Time, s; infinity over a link of rate 0.

    Examples
    --------
    >>> from windlass.model.queries import Cluster, Component, Query, QueryPlan
    >>> from windlass.plan.configurations import configurations
    >>> tiers = Hierarchy((Cluster("camera", 1, up=1e6, parent="cloud"), Cluster("cloud", 40)))
    >>> plan = QueryPlan(0.6, (Component("detect", 0.5, 2e5), Component("associate", 0.1, 0.0)))
    >>> query = Query("cars", "camera", (plan,), source=5e5)
    >>> options = configurations(query, tiers)
    >>> [round(seconds_a_frame(QueryFeed(query, 10.0, 100), options, row, tiers), 3) for row in range(3)]
    [0.06, 0.08, 0.11]
    """
    query = feed.query
    path = hierarchy.path(query.camera)
    components = query.plans[int(options.plan[choice])].components
    total, at, rate = 0.0, 0, query.source
    for component, cluster in zip(components, options.place[choice].tolist(), strict=False):
        to = path.index(cluster)
        size = rate / feed.rate
        links = [
            min(hierarchy.clusters[path[hop]].up, hierarchy.clusters[path[hop + 1]].down)
            for hop in range(at, to)
        ]
        if links and size > 0:
            slowest = min(links)
            total += size / slowest if slowest > 0 else float("inf")
        total += component.cores / feed.rate
        at, rate = to, component.output
    return total
