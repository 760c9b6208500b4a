"""All queries that could share work share as much of it as they can, whether that is worth it or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number
from windlass.plan.compiled import Climbs
from windlass.plan.lib.answer import answered
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.merge import alike, firsts, peers_of, used
from windlass.plan.lib.problem import Problem
from windlass.plan.view import Plan, PlanView


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Queries that are planned as one: who they are, and (k, members) the configurations of each way together."""

    members: tuple[int, ...]
    ways: NDArray[np.int64]


class MergeEverything(Climbs):
    """Queries on one camera that could begin with the same work are one, with one way to run for all of them.

    The first query of a group says which ways there are. Each of the others follows with its most accurate
    configuration that shares most with it, and a way that one of them cannot follow is left out. The greedy of
    ``cascade`` then chooses a way for each group, whose accuracy is the mean over its queries, weighted by how many
    they are. Who shares nothing is planned alone.

    It is the baseline that shows what choosing whom to merge is worth.

    Parameters
    ----------
    band
        As that of ``cascade``.

    Source: thesis, section 5.7.5, Figure 5.24.

    Examples
    --------
    >>> from windlass.plan.view import QueryOptions
    >>> work = np.array([[[1.0]], [[4.0]]])
    >>> queries = tuple(
    ...     QueryOptions(
    ...         i, f"q{i}", np.array([0.5, 0.9]), work[:, 0], piece=np.array([[7], [8]]), piece_demand=work
    ...     )
    ...     for i in range(2)
    ... )
    >>> MergeEverything().decide(PlanView(0.0, ("cloud.cores",), np.array([5.0]), queries)).choices
    (1, 1)
    """

    name = "merge-everything"

    def __init__(self, band: float = 2.0) -> None:
        self.band = band if band == np.inf else number("band", band, 1.0)

    def decide(self, view: PlanView) -> Plan:
        """The plan of the greedy over groups."""
        groups = _groups(view)
        most = max((len(group.members) for group in groups), default=1)
        accuracy = [_accuracy(view, group) * len(group.members) / most for group in groups]
        demand = [_demand(view, group) for group in groups]
        found = greedy(Problem.of(accuracy, demand, view.capacity), self.band)
        choices = np.full(len(view.queries), -1)
        for group, way in zip(groups, found.tolist(), strict=True):
            if way >= 0:
                choices[list(group.members)] = group.ways[way]
        return answered(view, Problem.seen(view), choices, merged=True)


def _groups(view: PlanView) -> list[_Group]:
    left, found = dict.fromkeys(range(len(view.queries))), []
    peers = peers_of(view)
    while left:
        first = next(iter(left))
        members = [first, *(k for k in peers[first] if k in left)]
        ways = _ways(view, members)
        if not len(ways):
            members, ways = [first], np.arange(len(view.queries[first]))[:, None]
        found.append(_Group(tuple(members), ways))
        for member in members:
            del left[member]
    return found


def _ways(view: PlanView, members: list[int]) -> NDArray[np.int64]:
    """(k, members) for each configuration of the first those that follow it; none that somebody cannot follow."""
    leader, known = view.queries[members[0]], [firsts(view.queries[k]) for k in members[1:]]
    ways = np.array(
        [[way, *(alike(each, leader, way) for each in known)] for way in range(len(leader))], dtype=np.int64
    ).reshape(-1, len(members))
    return ways[(ways >= 0).all(axis=1)]


def _accuracy(view: PlanView, group: _Group) -> NDArray[np.float64]:
    own = [view.queries[k].accuracy[group.ways[:, at]] for at, k in enumerate(group.members)]
    return np.asarray(np.mean(own, axis=0))


def _demand(view: PlanView, group: _Group) -> NDArray[np.float64]:
    choices, found = np.full(len(view.queries), -1), np.empty((len(group.ways), len(view.capacity)))
    for at, way in enumerate(group.ways):
        choices[list(group.members)] = way
        found[at] = used(view, choices, group.members)
    return found
