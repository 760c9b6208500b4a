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
