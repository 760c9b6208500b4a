"""How fast components are where they together ask for more than there is.

All that use a resource slow down in proportion: each gets of it what it asks for, times what there is over what all
ask for. A query is as slow as the slowest of its components. What is then left over goes to queries that have fallen
behind, in proportion again. So no resource ever gives more than it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.plan.view import QueryOptions

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class QueryLoad:
    """What runs: p pieces of work, each done for one query or for several.

    Parameters
    ----------
    demand
        (p, L) what each piece asks for at the pace of its stream.
    piece, query
        (u,) which piece is done for which query, a line for each use.
    queries
        How many queries there are.
    """

    demand: _Floats
    piece: _Ints
    query: _Ints
    queries: int

    def slowest(self, of_piece: _Floats, otherwise: float) -> _Floats:
        """(n,) the least of a query's pieces; for those that have none, something else."""
        least = np.full(self.queries, np.inf)
        np.minimum.at(least, self.query, of_piece[self.piece])
        return np.where(np.isinf(least), otherwise, least)

    def fastest(self, of_query: _Floats) -> _Floats:
        """(p,) the most that any query of a piece has."""
        most = np.zeros(len(self.demand))
        np.maximum.at(most, self.piece, of_query[self.query])
        return most

    def taken(self, of_query: _Floats) -> _Floats:
        """(L,) what all pieces take together where each is as fast as the fastest of its queries."""
        found: _Floats = self.fastest(of_query) @ self.demand
        return found


def load_of(options: Sequence[QueryOptions], choice: _Ints, merged: bool) -> QueryLoad:
    """What queries run.

    Parameters
    ----------
    options
        The n queries.
    choice
        (n,) the configuration of each, −1 for none.
    merged
        Whether equal pieces are done once, for all queries that have them; else each query is one piece.

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
    demand, number, owner = [], [], []
    for row in np.flatnonzero(choice >= 0).tolist():
        one, j = options[row], int(choice[row])
        if merged and one.piece is not None and one.piece_demand is not None:
            real = one.piece[j] >= 0
            demand.append(one.piece_demand[j][real])
            number.append(one.piece[j][real])
        else:
            demand.append(one.demand[j : j + 1])
            # Numbers of pieces are 0 or more: those below are free for what nobody else has.
            number.append(np.array([-1 - row]))
        owner += [row] * len(number[-1])
    if not owner:
        wide = options[0].demand.shape[1] if options else 0
        return QueryLoad(np.zeros((0, wide)), np.empty(0, np.int64), np.empty(0, np.int64), len(choice))
    asked = np.concatenate(demand)
    found, piece = np.unique(np.concatenate(number), return_inverse=True)
    once = np.zeros((len(found), asked.shape[1]))
    # Two profiles of the same work may differ a little: it takes what the dearer one says.
    np.maximum.at(once, piece, asked)
    return QueryLoad(once, piece.astype(np.int64), np.array(owner), len(choice))


@dataclass(frozen=True, slots=True, eq=False)
class QuerySpeeds:
    """How fast queries go, as a part of the pace of their streams.

    Parameters
    ----------
    base, extra
        (n,) of what all share, and on top of it for those that are behind; 1 and 0 for queries that do not run.
    held
        (L,) what their components hold: what they ask for, extras included, or all that there is.
    """

    base: _Floats
    extra: _Floats
    held: _Floats

    @property
    def rate(self) -> _Floats:
        """(n,) both together."""
        return self.base + self.extra


def share(load: QueryLoad, capacity: _Floats, behind: NDArray[np.bool_], catch_up: float) -> QuerySpeeds:
    """Share what there is.

    Parameters
    ----------
    load
        What runs.
    capacity
        (L,) how much there is, infinity included.
    behind
        (n,) whether something of a query waits.
    catch_up
        How much faster than its stream such a query may be, as a part of that.

    Examples
    --------
    Two ask for 3 and 1 of 2 cores; a third has a link for itself, is behind, and goes faster.

    >>> three = np.arange(3)
    >>> load = QueryLoad(np.array([[3.0, 0.0], [1.0, 0.0], [0.0, 4.0]]), three, three, 3)
    >>> found = share(load, np.array([2.0, 10.0]), np.array([False, True, True]), 0.25)
    >>> found.rate.tolist(), found.held.tolist()
    ([0.5, 0.5, 1.25], [2.0, 5.0])
    """
    if not len(load.demand):
        return QuerySpeeds(np.ones(load.queries), np.zeros(load.queries), np.zeros(len(capacity)))
    asked = load.demand.sum(axis=0)
    base = load.slowest(_least_used(load.demand, _part(capacity, asked)), 1.0)
    extra = np.zeros(load.queries)
    wanted = np.zeros(len(load.demand))
    if catch_up > 0.0 and behind.any():
        wanted = catch_up * load.fastest(behind.astype(np.float64))
        # What the base leaves: a component that waits for another leaves some of what is short, too.
        spare = np.maximum(capacity - load.taken(base), 0.0)
        given = _least_used(load.demand, _part(spare, wanted @ load.demand))
        extra = np.where(behind, catch_up * load.slowest(given, 0.0), 0.0)
    held = np.minimum(asked + load.taken(extra), capacity)
    return QuerySpeeds(base, extra, held)


def _part(there: _Floats, asked: _Floats) -> _Floats:
    """(L,) which part of what is asked for is there, 1 at most."""
    found = np.ones(len(asked))
    short = asked > there
    found[short] = there[short] / asked[short]
    return found


def _least_used(demand: _Floats, part: _Floats) -> _Floats:
    """(p,) the least part among the resources that each piece uses; 1 for one that uses none."""
    least: _Floats = np.where(demand > 0.0, part, 1.0).min(axis=1, initial=1.0)
    return least
