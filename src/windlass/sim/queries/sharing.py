"""The speeds of components when their total demand exceeds a capacity.

All components that use a short resource slow down in proportion: each gets its demand times the ratio of capacity to
total demand. A query is as slow as its slowest component. The remaining capacity is shared, again in proportion, among
queries with buffered frames. The capacity of a resource is never exceeded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from windlass.plan.view import QueryOptions

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class QueryLoad:
    """The work of running queries: p pieces, each done for one or more queries.

    Parameters
    ----------
    demand
        (p, L) demand of each piece at the pace of its stream.
    piece, query
        (u,) pairs of a piece and a query that uses it.
    queries
        Number of queries.
    """

    demand: _Floats
    piece: _Ints
    query: _Ints
    queries: int

    @cached_property
    def total(self) -> _Floats:
        """(L,) the sum of these demands."""
        total: _Floats = self.demand.sum(axis=0)
        return total

    def slowest(self, of_piece: _Floats, otherwise: float) -> _Floats:
        """Return the least value of each query's pieces, (n,); ``otherwise`` for a query without pieces."""
        least = np.full(self.queries, np.inf)
        np.minimum.at(least, self.query, of_piece[self.piece])
        return np.where(np.isinf(least), otherwise, least)

    def fastest(self, of_query: _Floats) -> _Floats:
        """Return the greatest value of each piece's queries, (p,)."""
        most = np.zeros(len(self.demand))
        np.maximum.at(most, self.piece, of_query[self.query])
        return most

    def usage(self, of_query: _Floats) -> _Floats:
        """Return the total use of each resource, (L,), if each piece has the pace of its fastest query."""
        total: _Floats = self.fastest(of_query) @ self.demand
        return total


def load_of(options: Sequence[QueryOptions], choice: _Ints, merged: bool) -> QueryLoad:
    """Return the work of running queries.

    Parameters
    ----------
    options
        Configurations of the n queries.
    choice
        (n,) current configuration of each query, −1 for none.
    merged
        Whether equal pieces are done once for all queries that have them; if not, each query is one piece.

    Examples
    --------
    >>> two = [
    ...     QueryOptions(i, f"q{i}", np.array([0.5]), np.array([[3.0]]), (), 0, np.array([[7, 8 + i]]),
    ...                  np.array([[[2.0], [1.0]]])) for i in range(2)]
    >>> for merged in (False, True):
    ...     load = load_of(two, np.array([0, 0]), merged)
    ...     print(load.demand.sum(), load.piece.tolist(), load.query.tolist())
    6.0 [1, 0] [0, 1]
    4.0 [0, 1, 0, 2] [0, 0, 1, 1]
    """
    rows = np.flatnonzero(choice >= 0)
    if not len(rows):
        wide = options[0].demand.shape[1] if options else 0
        return QueryLoad(np.zeros((0, wide)), np.empty(0, np.int64), np.empty(0, np.int64), len(choice))
    if not merged:
        # In the order of pieces below: pieces of a single query come last query first.
        own = [options[row].demand[j] for row, j in zip(rows.tolist(), choice[rows].tolist(), strict=True)]
        return QueryLoad(np.array(own[::-1]), np.arange(len(rows))[::-1], rows, len(choice))
    demand, number, owner = [], [], []
    for row in rows.tolist():
        one, j = options[row], int(choice[row])
        if one.piece is not None and one.piece_demand is not None:
            real = one.piece[j] >= 0
            demand.append(one.piece_demand[j][real])
            number.append(one.piece[j][real])
        else:
            demand.append(one.demand[j : j + 1])
            # Pieces have numbers of at least 0, so a negative number makes a piece that no other query has.
            number.append(np.array([-1 - row]))
        owner += [row] * len(number[-1])
    demands = np.concatenate(demand)
    numbers, piece = np.unique(np.concatenate(number), return_inverse=True)
    once = np.zeros((len(numbers), demands.shape[1]))
    # Two profiles of the same work may differ a little; the larger demand counts.
    np.maximum.at(once, piece, demands)
    return QueryLoad(once, piece.astype(np.int64), np.array(owner, np.int64), len(choice))


@dataclass(frozen=True, slots=True, eq=False)
class QuerySpeeds:
    """Paces of queries, relative to the paces of their streams.

    Parameters
    ----------
    base, extra
        (n,) pace on the shared capacity, and the additional pace of queries that catch up; 1 and 0 for queries that do
        not run.
    held
        (L,) resources that components hold: their demand with the additional pace, at most the capacity.
    wanted
        (L,) what they would hold if no resource were short.
    """

    base: _Floats
    extra: _Floats
    held: _Floats
    wanted: _Floats

    @property
    def rate(self) -> _Floats:
        """Sum of both, (n,)."""
        return self.base + self.extra


def share(load: QueryLoad, capacity: _Floats, behind: NDArray[np.bool_], catch_up: float) -> QuerySpeeds:
    """Share the capacity of each resource.

    Parameters
    ----------
    load
        Work of the running queries.
    capacity
        (L,) capacity of each resource; may be infinite.
    behind
        (n,) whether a query has buffered frames.
    catch_up
        Fraction of the stream's pace by which such a query may be faster than its stream.

    Examples
    --------
    Two queries demand 3 and 1 of 2 cores; a third one has a link of its own, is behind, and catches up.

    >>> three = np.arange(3)
    >>> load = QueryLoad(np.array([[3.0, 0.0], [1.0, 0.0], [0.0, 4.0]]), three, three, 3)
    >>> found = share(load, np.array([2.0, 10.0]), np.array([False, True, True]), 0.25)
    >>> found.rate.tolist(), found.held.tolist()
    ([0.5, 0.5, 1.25], [2.0, 5.0])
    """
    if not len(load.demand):
        nothing = np.zeros(len(capacity))
        return QuerySpeeds(np.ones(load.queries), np.zeros(load.queries), nothing, nothing)
    demand, base, extra = load.total, np.ones(load.queries), np.zeros(load.queries)
    if (demand > capacity).any():
        base = load.slowest(_least_used(load.demand, _fraction(capacity, demand)), 1.0)
    if catch_up > 0.0 and behind.any():
        wanted = catch_up * load.fastest(behind.astype(np.float64))
        # The base pace also leaves some of a short resource, where a component waits for a slower one.
        spare = np.maximum(capacity - load.usage(base), 0.0)
        more = wanted @ load.demand
        given = _least_used(load.demand, _fraction(spare, more))
        extra = np.where(behind, catch_up * load.slowest(given, 0.0), 0.0)
        held = np.minimum(demand + load.usage(extra), capacity)
        return QuerySpeeds(base, extra, held, demand + more)
    return QuerySpeeds(base, extra, np.minimum(demand, capacity), demand)


def _fraction(capacity: _Floats, demand: _Floats) -> _Floats:
    """Return the ratio of capacity to demand, at most 1, (L,)."""
    ratio = np.ones(len(demand))
    short = demand > capacity
    ratio[short] = capacity[short] / demand[short]
    return ratio


def _least_used(demand: _Floats, part: _Floats) -> _Floats:
    """Return the least fraction among the resources of each piece, (p,); 1 for a piece that uses none."""
    least: _Floats = np.where(demand > 0.0, part, 1.0).min(axis=1, initial=1.0)
    return least
