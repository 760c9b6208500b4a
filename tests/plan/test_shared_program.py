"""The optimum with merging, compared with an exhaustive search, and planners that merge compared with it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.plan.test_merging import merged_demand, sharing_view
from windlass.plan import Plan, PlanView, QueryOptions
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.program import solve
from windlass.plan.lib.shared_program import solve_shared
from windlass.plan.policies import optimal
from windlass.plan.policies.merge_everything import MergeEverything
from windlass.plan.policies.merged import Merged
from windlass.plan.policies.optimal import Optimal


@pytest.fixture
def _exact_capacities(monkeypatch):
    for name in ("greedy", "merge", "problem", "program", "shared_program"):
        monkeypatch.setattr(f"windlass.plan.lib.{name}.ROOM", 1.0)


def score(view: PlanView, choices) -> tuple[int, float]:
    """Return the number of running queries and the sum of their accuracies."""
    values = [float(view.queries[i].accuracy[j]) for i, j in enumerate(choices) if j >= 0]
    return len(values), sum(values)


def best_of_all(view: PlanView) -> tuple[int, float]:
    """Return the best score of all plans whose demand, with equal steps counted once, fits."""
    every = itertools.product(*(range(-1, len(each)) for each in view.queries))
    return max(
        score(view, choices) for choices in every if (merged_demand(view, choices) <= view.capacity).all()
    )


@pytest.mark.matrix(0)
@pytest.mark.usefixtures("_exact_capacities")
def test_the_optimum_with_merging_equals_an_exhaustive_search():
    merging = 0
    for seed in range(70):
        view = sharing_view(seed)
        found, best = solve_shared(view, 60.0, 0.0), best_of_all(view)
        assert found.proven
        assert score(view, found.choices.tolist()) == best, seed
        assert found.bound == pytest.approx(best[1], abs=1e-6)
        alone = solve(Problem.of_view(view), 60.0, 0.0)
        assert score(view, alone.choices.tolist()) <= best
        merging += score(view, alone.choices.tolist()) < best
    assert merging > 10


@pytest.mark.matrix(0)
@pytest.mark.usefixtures("_exact_capacities")
def test_planners_that_merge_are_at_most_at_the_optimum_and_often_there():
    at_optimum = {"merged": 0, "merge-everything": 0}
    for seed in range(100, 160):
        view = sharing_view(seed)
        best = score(view, Optimal(gap=0.0, merge=True).decide(view).choices)
        for policy in (Merged(), MergeEverything()):
            plan = policy.decide(view)
            own = score(view, plan.choices)
            assert own <= best, (seed, policy.name)
            at_optimum[policy.name] += own == best
    assert at_optimum["merged"] >= 40
    assert at_optimum["merged"] > at_optimum["merge-everything"]


def two(first, second, capacity) -> PlanView:
    """Two queries of one step with the same number, which differ in what its profiles need."""
    rates = [np.array(each)[:, None, :] for each in (first, second)]
    queries = tuple(
        QueryOptions(i, f"q{i}", np.array([0.5]), each[:, 0], piece=np.full((1, 1), 7), piece_demand=each)
        for i, each in enumerate(rates)
    )
    return PlanView(0.0, ("a", "b"), np.array(capacity), queries)


@pytest.mark.parametrize(
    ("capacity", "running"),
    [([3.0, 4.0], 2), ([2.5, 4.0], 1), ([3.0, 3.5], 1), ([np.inf, 4.0], 2), ([3.0, np.inf], 2)],
)
def test_the_largest_demand_of_equal_work_counts_for_each_resource(capacity, running):
    view = two([[3.0, 1.0]], [[2.0, 4.0]], capacity)
    assert score(view, solve_shared(view, 10.0, 0.0).choices.tolist())[0] == running


def test_without_pieces_the_program_is_the_one_without_merging():
    for seed in range(20):
        view = sharing_view(seed)
        bare = PlanView(
            0.0,
            view.resources,
            view.capacity,
            tuple(QueryOptions(each.query, each.name, each.accuracy, each.demand) for each in view.queries),
        )
        found, plain = solve_shared(bare, 10.0, 0.0), solve(Problem.of_view(bare), 10.0, 0.0)
        assert score(bare, found.choices.tolist()) == score(bare, plain.choices.tolist())


def test_the_plan_is_merged_and_names_its_distance():
    view = two([[3.0, 1.0]], [[3.0, 1.0]], [3.0, 1.0])
    plan = Optimal(merge=True).decide(view)
    plan.check(view)
    assert plan.merged
    assert plan.choices == (0, 0)
    assert plan.why[0] == "starts: configuration 0, accuracy 0.5; at the optimum"
    alone = Optimal().decide(view)
    assert not alone.merged
    assert sorted(alone.choices) == [-1, 0]


def test_without_an_optimum_in_time_the_plan_is_that_of_merged(monkeypatch):
    monkeypatch.setattr(optimal, "solve_shared", lambda view, seconds, gap: None)
    for seed in range(8):
        view = sharing_view(seed)
        plan = Optimal(merge=True).decide(view)
        assert isinstance(plan, Plan)
        assert plan.merged
        assert plan.choices == Merged().decide(view).choices
        assert all(why.endswith("no optimum found in time") for why in plan.why)
