"""Demand of merged queries, and the greedy that also moves peers onto one plan.

Configurations on one camera that start with the same components in the same clusters share that work. Each
piece of work has an identifier, and its demand counts once, however many queries have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from windlass.plan.lib.compact import shares_of
from windlass.plan.lib.problem import ROOM
from windlass.plan.view import PlanView, QueryOptions

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Smaller gains are rounding errors.
_LEAST = 1e-9


def parts(options: QueryOptions, choice: int) -> list[tuple[int, _Floats]]:
    """Return the pieces of a configuration with their demands; one piece of its own if pieces are unknown."""
    if options.piece is None or options.piece_demand is None:
        # Negative numbers are unused: those of pieces are not negative.
        return [(-2 - options.query, options.demand[choice])]
    pairs = zip(options.piece[choice].tolist(), options.piece_demand[choice], strict=True)
    return [(piece, rates) for piece, rates in pairs if piece >= 0]


def used(view: PlanView, choices: _Ints, which: Iterable[int]) -> _Floats:
    """Return the demand (L,) of some queries together, counting equal pieces once."""
    once: dict[int, _Floats] = {}
    for i in which:
        if choices[i] >= 0:
            for piece, rates in parts(view.queries[i], int(choices[i])):
                once[piece] = np.maximum(once[piece], rates) if piece in once else rates
    total = np.zeros(len(view.capacity))
    for rates in once.values():
        total += rates
    return total


def used_shares(view: PlanView, choices: _Ints) -> _Floats:
    """Return the demand (L,) of all queries as shares of the capacity, counting equal pieces once."""
    return shares_of(used(view, choices, range(len(choices))), view.capacity)


def peers_of(view: PlanView) -> list[list[int]]:
    """Return for each query the others that could share a piece of work with it."""
    first = [
        set() if each.piece is None else set(np.unique(each.piece[:, 0]).tolist()) - {-1}
        for each in view.queries
    ]
    return [[k for k in range(len(first)) if k != i and first[i] & first[k]] for i in range(len(first))]


def firsts(options: QueryOptions) -> dict[tuple[int, ...], int]:
    """Return a query's most accurate configuration for each beginning of its work, given as piece numbers."""
    found: dict[tuple[int, ...], int] = {}
    # In order of accuracy, ties with the first one last, so that it overwrites the others.
    for choice in np.lexsort((-np.arange(len(options)), options.accuracy)).tolist():
        for begin in _beginnings(options, choice):
            found[begin] = choice
    return found


def alike(known: Mapping[tuple[int, ...], int], wanted: QueryOptions, choice: int) -> int:
    """Return the configuration (from :func:`firsts`) that shares most pieces with another query's; −1 for none."""
    begins = reversed(_beginnings(wanted, choice))
    return next((known[begin] for begin in begins if begin in known), -1)


def _beginnings(options: QueryOptions, choice: int) -> list[tuple[int, ...]]:
    """Return the first piece of a configuration, the first two, and so on."""
    pieces = [] if options.piece is None else options.piece[choice].tolist()
    count = next((at for at, piece in enumerate(pieces) if piece < 0), len(pieces))
    return [tuple(pieces[:upto]) for upto in range(1, count + 1)]


def merged_choices(view: PlanView, begin: _Ints, most: int) -> _Ints:
    """Improve choices that fit by switches of a query, alone or together with some of its peers.

    Parameters
    ----------
    view
        The queries; some have pieces.
    begin
        (n,) choices that fit without merging.
    most
        Maximum number of peers that are moved together.
    """
    peers, choices, again = peers_of(view), begin.copy(), True
    known = [firsts(each) for each in view.queries]
    while again:
        again = False
        for i in range(len(view.queries)):
            better = _switch(view, choices, i, {k: known[k] for k in peers[i]}, most)
            if better is not None:
                choices, again = better, True
    return choices


def _switch(
    view: PlanView, choices: _Ints, i: int, peers: Mapping[int, Mapping[tuple[int, ...], int]], most: int
) -> _Ints | None:
    """Return the most efficient switch of a query, alone or with peers, by their :func:`firsts`; None if none gains."""
    options, family = view.queries[i], [i, *peers]
    others = used(view, choices, (k for k in range(len(choices)) if k not in family))
    now, room = used(view, choices, family), view.capacity * ROOM
    best, merit = None, 0.0
    for choice in _frontier(options, view.capacity, int(choices[i])):
        kin = {k: alike(known, options, choice) for k, known in peers.items()}
        for group in _subsets([k for k in peers if kin[k] >= 0], most):
            tried = choices.copy()
            tried[[i, *group]] = [choice, *(kin[k] for k in group)]
            gain = sum(_worth(view, tried, k) - _worth(view, choices, k) for k in (i, *group))
            wanted = used(view, tried, family)
            if gain <= _LEAST or not (others + wanted <= room).all():
                continue
            paid = float(_parts(wanted - now, view.capacity).max(initial=0.0))
            own = gain / paid if paid > 0 else np.inf
            if best is None or own > merit:
                best, merit = tried, own
    return best


def _parts(needs: _Floats, capacity: _Floats) -> _Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        found: _Floats = np.where(needs > 0, needs / capacity, 0.0)
    return found


def _worth(view: PlanView, choices: _Ints, i: int) -> float:
    choice = int(choices[i])
    return float(view.queries[i].accuracy[choice]) if choice >= 0 else -1.0


def _frontier(options: QueryOptions, capacity: _Floats, now: int) -> list[int]:
    """Return configurations on the Pareto boundary that are more accurate than the current one."""
    cost = _parts(options.demand, capacity).max(axis=1, initial=0.0)
    order = np.lexsort((-options.accuracy, cost))
    least = float(options.accuracy[now]) if now >= 0 else -1.0
    found = []
    for j in order.tolist():
        if options.accuracy[j] > least and np.isfinite(cost[j]):
            found.append(j)
            least = float(options.accuracy[j])
    return found


def _subsets(peers: list[int], most: int) -> list[tuple[int, ...]]:
    """Return the subsets of peers to try: all up to ``most`` members, and all peers together."""
    found = [group for size in range(min(most, len(peers)) + 1) for group in combinations(peers, size)]
    return found if len(peers) <= most else [*found, tuple(peers)]
