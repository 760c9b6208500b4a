"""Plain versions of the loads of queries and their speeds, in which nothing is left out or computed once.

The package's versions have to give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windlass.plan.view import QueryOptions
from windlass.sim.queries.sharing import QueryLoad, QuerySpeeds


def load_of(options: Sequence[QueryOptions], choice: np.ndarray, merged: bool) -> QueryLoad:
    """Return the work of running queries, all with numbered pieces: a query that shares none has a negative one."""
    demand, number, owner = [], [], []
    for row in np.flatnonzero(choice >= 0).tolist():
        one, j = options[row], int(choice[row])
        if merged and one.piece is not None and one.piece_demand is not None:
            real = one.piece[j] >= 0
            demand.append(one.piece_demand[j][real])
            number.append(one.piece[j][real])
        else:
            demand.append(one.demand[j : j + 1])
            number.append(np.array([-1 - row]))
        owner += [row] * len(number[-1])
    if not owner:
        wide = options[0].demand.shape[1] if options else 0
        return QueryLoad(np.zeros((0, wide)), np.empty(0, np.int64), np.empty(0, np.int64), len(choice))
    demands = np.concatenate(demand)
    numbers, piece = np.unique(np.concatenate(number), return_inverse=True)
    once = np.zeros((len(numbers), demands.shape[1]))
    np.maximum.at(once, piece, demands)
    return QueryLoad(once, piece.astype(np.int64), np.array(owner), len(choice))


def share(load: QueryLoad, capacity: np.ndarray, behind: np.ndarray, catch_up: float) -> QuerySpeeds:
    """Share the capacity of each resource, whether or not it is short and whether or not a query is behind."""
    if not len(load.demand):
        nothing = np.zeros(len(capacity))
        return QuerySpeeds(np.ones(load.queries), np.zeros(load.queries), nothing, nothing)
    demand = load.demand.sum(axis=0)
    base = load.slowest(_least_used(load.demand, _fraction(capacity, demand)), 1.0)
    extra = np.zeros(load.queries)
    wanted = np.zeros(len(load.demand))
    if catch_up > 0.0 and behind.any():
        wanted = catch_up * load.fastest(behind.astype(np.float64))
        spare = np.maximum(capacity - load.usage(base), 0.0)
        given = _least_used(load.demand, _fraction(spare, wanted @ load.demand))
        extra = np.where(behind, catch_up * load.slowest(given, 0.0), 0.0)
    held = np.minimum(demand + load.usage(extra), capacity)
    return QuerySpeeds(base, extra, held, demand + wanted @ load.demand)


def _fraction(capacity: np.ndarray, demand: np.ndarray) -> np.ndarray:
    ratio = np.ones(len(demand))
    short = demand > capacity
    ratio[short] = capacity[short] / demand[short]
    return ratio


def _least_used(demand: np.ndarray, part: np.ndarray) -> np.ndarray:
    return np.where(demand > 0.0, part, 1.0).min(axis=1, initial=1.0)
