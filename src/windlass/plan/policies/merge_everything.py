"""Sharing of all common work between queries, whether or not that is worth it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number
from windlass.plan.compiled import Climbs
from windlass.plan.lib.answer import as_plan
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.merge import alike, firsts, peers_of, used
from windlass.plan.lib.problem import Problem
from windlass.plan.view import Plan, PlanView


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Queries that are planned as one, and (k, members) the configuration of each of them in each joint plan."""

    members: tuple[int, ...]
    ways: NDArray[np.int64]


class MergeEverything(Climbs):
    """Plans queries with a common beginning of their work as one, with one joint plan for all of them.

    The first query of a group defines the joint plans. Each other query follows with its most accurate
    configuration that shares most work with it; a plan that some query cannot follow is left out. The greedy
    of ``cascade`` then chooses a joint plan for each group, whose accuracy is the mean over its queries,
    weighted by their number. Queries that share nothing are planned alone.

    It is a baseline for the value of choosing which queries to merge.

    Parameters
    ----------
    band
        See ``cascade``.

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
        """Return the plan of the greedy over groups."""
        groups = _groups(view)
        most = max((len(group.members) for group in groups), default=1)
        accuracy = [_accuracy(view, group) * len(group.members) / most for group in groups]
        demand = [_demand(view, group) for group in groups]
        found = greedy(Problem.of(accuracy, demand, view.capacity), self.band)
        choices = np.full(len(view.queries), -1)
        for group, way in zip(groups, found.tolist(), strict=True):
            if way >= 0:
                choices[list(group.members)] = group.ways[way]
        return as_plan(view, choices, merged=True)


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
    """Return (k, members) the configurations that follow each one of the first query, where all queries can."""
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
