"""What a run of streaming queries would start, without starting it."""

from __future__ import annotations

from collections.abc import Sequence

from windlass.engines.streams.book import StreamBook
from windlass.engines.streams.executor import QueryFeed, StreamNode
from windlass.model.queries import Hierarchy
from windlass.plan import PlanPolicy


def planned_lines(
    feeds: Sequence[QueryFeed], hierarchy: Hierarchy, policy: PlanPolicy, address: str | None, nodes: int
) -> list[str]:
    """Return the cluster and the chains that would be started, one line each.

    Parameters
    ----------
    feeds
        The queries.
    hierarchy
        The clusters.
    policy
        The planner.
    address
        The address of a Ray cluster; None for a private one on this machine.
    nodes
        Raylets of each cluster of a private one that is a parent.
    """
    lines = []
    if address is None:
        parents = {cluster.parent for cluster in hierarchy.clusters}
        lines.append("would start a private Ray cluster on this machine: a head, and for each cluster")
        lines.extend(
            f"  {each.name}: {nodes if each.name in parents else 1} raylet(s), {each.cores:g} cores"
            for each in hierarchy.clusters
        )
    else:
        lines.append(f"would use the Ray cluster at {address}, without starting or stopping its nodes")
    book = StreamBook(
        hierarchy, [StreamNode(at, at, one.cores, one.name) for at, one in enumerate(hierarchy.clusters)]
    )
    for feed in feeds:
        book.add(feed, 0.0)
    view, listed = book.view(0.0)
    plan = policy.decide(view)
    plan.check(view)
    book.choose(listed, plan)
    return [*lines, *(f"would run {entry.summary}" for entry in book.entries)]
