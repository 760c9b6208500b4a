"""Planners that merge work: their switches equal those of a plain version, on queries that share work."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.plan.cases import plain_greedy
from tests.plan.test_merge import plain_match
from windlass.plan import Plan, PlanView, QueryOptions
from windlass.plan.lib.merge import merged_choices, peers_of, used
from windlass.plan.lib.problem import Problem
from windlass.plan.policies.merge_everything import MergeEverything
from windlass.plan.policies.merged import Merged


@pytest.fixture(autouse=True)
def _exact_capacities(monkeypatch):
    for name in ("greedy", "merge", "problem"):
        monkeypatch.setattr(f"windlass.plan.lib.{name}.ROOM", 1.0)


def sharing_view(seed: int) -> PlanView:
    """Queries on two cameras, with chains that often begin alike; profiles of the same work differ now and then.

    All numbers are in eighths, and capacities powers of two. Some queries have no pieces.
    """
    rng = np.random.default_rng(seed)
    resources, queries = int(rng.integers(1, 4)), []
    work, names = {}, {}
    for i in range(int(rng.integers(1, 7))):
        k, width, camera = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(0, 2))
        piece, rates = np.full((k, width), -1), np.zeros((k, width, resources))
        for row in range(k):
            number = camera
            for at in range(int(rng.integers(1, width + 1))):
                # A number for a step after certain others: equal chains have equal numbers.
                number = 4 * number + 2 + int(rng.integers(0, 2))
                if number not in work or rng.random() < 0.3:
                    work[number] = rng.integers(0, 5, resources) / 8
                piece[row, at], rates[row, at] = names.setdefault(number, len(names)), work[number]
        accuracy, demand = rng.integers(0, 9, k) / 8, rates.sum(axis=1)
        both = {} if rng.random() < 0.15 else {"piece": piece, "piece_demand": rates}
        queries.append(QueryOptions(i, f"q{i}", accuracy, demand, **both))
    capacity = rng.choice([0.0, 0.5, 1.0, 2.0, np.inf], resources, p=[0.05, 0.3, 0.35, 0.25, 0.05])
    return PlanView(0.0, tuple(f"r{at}" for at in range(resources)), capacity, tuple(queries))


def merged_demand(view: PlanView, choices) -> np.ndarray:
    """Return the demand of choices, step by step: each step counts once, at its highest demand."""
    steps = {}
    for i, (each, choice) in enumerate(zip(view.queries, choices, strict=True)):
        if choice < 0:
            continue
        if each.piece is None:
            steps["alone", i] = [each.demand[choice]]
            continue
        for number, rates in zip(each.piece[choice].tolist(), each.piece_demand[choice], strict=True):
            if number >= 0:
                steps.setdefault(number, []).append(rates)
    return sum((np.max(each, axis=0) for each in steps.values()), np.zeros(len(view.capacity)))


def costs(requested: np.ndarray, capacity: np.ndarray) -> np.ndarray:
    """Return the largest share of any resource that each row needs; infinity for a resource of zero capacity."""
    return np.array(
        [
            max([0.0, *(a / c if c > 0 else np.inf for a, c in zip(row, capacity, strict=True) if a > 0)])
            for row in requested
        ]
    )


def worth(view, i, choice):
    return float(view.queries[i].accuracy[choice]) if choice >= 0 else -1.0


def best_switch(view: PlanView, choices: list[int], i: int, most: int) -> list[int] | None:
    """The switch of a query, alone or with peers, that gains most for what it costs; the first one of equals."""
    own, best, merit = view.queries[i], None, -1.0
    firsts = [set() if each.piece is None else set(each.piece[:, 0].tolist()) for each in view.queries]
    peers = [k for k in range(len(firsts)) if k != i and firsts[i] & firsts[k]]
    cost = costs(own.demand, view.capacity)
    keys = [(cost[j], -own.accuracy[j], j) for j in range(len(own))]
    for j in sorted(range(len(own)), key=keys.__getitem__):
        dominated = any(own.accuracy[o] >= own.accuracy[j] and keys[o] < keys[j] for o in range(len(own)))
        if dominated or own.accuracy[j] <= worth(view, i, choices[i]) or cost[j] == np.inf:
            continue
        follow = {k: plain_match(view.queries[k], own, j) for k in peers}
        able = [k for k in peers if follow[k] >= 0]
        groups = [g for size in range(min(most, len(able)) + 1) for g in itertools.combinations(able, size)]
        for group in [*groups, *([tuple(able)] if len(able) > most else [])]:
            tried = list(choices)
            tried[i] = j
            for k in group:
                tried[k] = follow[k]
            requested = merged_demand(view, tried)
            gain = sum(worth(view, k, tried[k]) - worth(view, k, choices[k]) for k in (i, *group))
            if gain <= 1e-9 or not (requested <= view.capacity).all():
                continue
            paid = costs([requested - merged_demand(view, choices)], view.capacity)[0]
            efficiency = gain / paid if paid > 0 else np.inf
            if efficiency > merit:
                best, merit = tried, efficiency
    return best


def merging(view: PlanView, choices: list[int], most: int) -> list[int]:
    again = True
    while again:
        again = False
        for i in range(len(view.queries)):
            better = best_switch(view, choices, i, most)
            if better is not None:
                choices, again = better, True
    return choices


def everything_merged(view: PlanView, band: float) -> list[int]:
    """Groups of all that can follow the first of them, planned as one query each by the plain greedy."""
    left, groups, peers = list(range(len(view.queries))), [], peers_of(view)
    while left:
        first = left[0]
        members = [first, *(k for k in peers[first] if k in left)]
        leader = view.queries[first]
        ways = [
            [j, *(plain_match(view.queries[k], leader, j) for k in members[1:])] for j in range(len(leader))
        ]
        ways = [way for way in ways if min(way) >= 0]
        if not ways:
            members, ways = [first], [[j] for j in range(len(leader))]
        groups.append((members, ways))
        left = [k for k in left if k not in members]
    most = max((len(members) for members, _ in groups), default=1)
    accuracy, demand = [], []
    for members, ways in groups:
        pairs = [list(zip(members, way, strict=True)) for way in ways]
        accuracy.append(
            [np.mean([worth(view, *each) for each in pair]) * len(members) / most for pair in pairs]
        )
        alone = [[dict(pair).get(k, -1) for k in range(len(view.queries))] for pair in pairs]
        demand.append([merged_demand(view, choices) for choices in alone])
    problem = Problem.of(accuracy, demand, view.capacity)
    choices = [-1] * len(view.queries)
    for (members, ways), way in zip(
        groups, plain_greedy(problem, band, False, each=1.0).tolist(), strict=True
    ):
        for k, choice in zip(members, ways[way] if way >= 0 else [-1] * len(members), strict=True):
            choices[k] = choice
    return choices


def some_choices(view, rng):
    return np.array([int(rng.integers(-1, len(each))) for each in view.queries], dtype=np.int64)


def test_equal_pieces_count_once_at_their_highest_demand():
    for seed in range(60):
        view = sharing_view(seed)
        choices, n = some_choices(view, np.random.default_rng(seed)), len(view.queries)
        expected = merged_demand(view, choices).tolist()
        assert used(view, choices, range(n)).tolist() == expected
        assert Plan(tuple(choices.tolist()), ("",) * n, merged=True).demand(view).tolist() == expected
        some = np.where(np.arange(n) % 2, choices, -1)
        assert used(view, choices, range(1, n, 2)).tolist() == merged_demand(view, some).tolist()


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("most", [0, 1, 2])
def test_switches_with_peers_equal_those_of_the_plain_version(most):
    moved = 0
    for seed in range(120):
        view = sharing_view(seed)
        begin = plain_greedy(Problem.of_view(view), 2.0, False, each=1.0)
        found = merged_choices(view, begin, most).tolist()
        assert found == merging(view, begin.tolist(), most), seed
        moved += found != begin.tolist()
    assert moved > 25


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("band", [1.0, 2.0, np.inf])
def test_merging_policies_start_from_the_greedy_within_their_band(band):
    for seed in range(120, 160):
        view = sharing_view(seed)
        begin = plain_greedy(Problem.of_view(view), band, False, each=1.0).tolist()
        assert list(Merged(seed % 4, band).decide(view).choices) == merging(view, begin, seed % 4), seed
    for seed in range(100):
        view = sharing_view(seed)
        plan = MergeEverything(band).decide(view)
        assert plan.merged
        assert list(plan.choices) == everything_merged(view, band), seed
