"""Selection of configurations by the clusters of their components."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.plan.view import QueryOptions


def in_one_place(options: QueryOptions) -> NDArray[np.bool_]:
    """Return (k,) which configurations have all components in one cluster; all if placements are unknown."""
    if options.place is None:
        return np.ones(len(options), dtype=bool)
    there = options.place >= 0
    same: NDArray[np.bool_] = ((options.place == options.place[:, :1]) | ~there).all(axis=1)
    return same


def heights(options: QueryOptions) -> NDArray[np.int64]:
    """Return (k,) how far up the components of each configuration run, summed over components; 0 if unknown.

    Clusters are numbered upwards along the camera's path: one that follows more others is further up.
    """
    if options.place is None:
        return np.zeros(len(options), np.int64)
    below: dict[int, set[int]] = {}
    for way in np.unique(options.place, axis=0).tolist():
        for at, cluster in enumerate(way):
            if cluster >= 0:
                below.setdefault(cluster, set()).update(set(way[:at]) - {cluster})
    # A query of one component has no order but that of its configurations, which begin at the camera.
    first = {cluster: at for at, cluster in reversed(list(enumerate(options.place[:, 0].tolist())))}
    order = sorted(below, key=lambda cluster: (len(below[cluster]), first.get(cluster, -1)))
    rank = np.zeros(max(below, default=-1) + 2, np.int64)
    rank[order] = np.arange(len(order))
    # The last entry is for components that a configuration does not have, which are −1.
    found: NDArray[np.int64] = rank[options.place].sum(axis=1)
    return found


def on_tier(options: QueryOptions, tier: int) -> NDArray[np.bool_]:
    """Return (k,) which configurations have all components on one tier: 0 is the camera's own, −1 the root's.

    If placements are unknown, all of them.
    """
    same = in_one_place(options)
    if options.place is None:
        return same
    # Single-cluster configurations of a plan are sorted from the camera's cluster to the root's.
    first = options.place[same, 0]
    clusters = list(dict.fromkeys(first.tolist()))
    if not -len(clusters) <= tier < len(clusters):
        return np.zeros(len(options), dtype=bool)
    found: NDArray[np.bool_] = same & (options.place[:, 0] == clusters[tier])
    return found
