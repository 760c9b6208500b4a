"""`refined` with merging: compared with the optimum, with planners that it must not be behind, and with its bound."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plan.test_merging import sharing_view
from tests.plan.test_shared_program import score
from windlass.plan import PlanView, QueryOptions
from windlass.plan.lib import refine_shared
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.refine import RefineLimits
from windlass.plan.lib.shared_program import shared_matrices
from windlass.plan.policies.merged import Merged
from windlass.plan.policies.optimal import Optimal
from windlass.plan.policies.refined import Refined


@pytest.mark.matrix(0)
def test_it_is_at_the_optimum_of_small_problems_and_never_behind_the_planners_that_it_begins_with():
    at_optimum = ahead = 0
    for seed in range(200, 260):
        view = sharing_view(seed)
        plan = Refined(merge=True).decide(view)
        plan.check(view)
        own, best = score(view, plan.choices), score(view, Optimal(gap=0.0, merge=True).decide(view).choices)
        assert own <= best, seed
        others = [score(view, each.decide(view).choices) for each in (Refined(), Merged())]
        assert own >= max(others), seed
        at_optimum += own == best
        ahead += own > max(others)
    # The others are at the optimum of some fifty already.
    assert at_optimum >= 59
    assert ahead >= 1


@pytest.mark.matrix(0)
def test_no_plan_that_runs_all_queries_is_above_the_bound():
    bounded = 0
    for seed in range(300, 340):
        view = sharing_view(seed)
        best = score(view, Optimal(gap=0.0, merge=True).decide(view).choices)
        _, bound = refine_shared.refine_shared(view, Problem.of_view(view))
        if best[0] == len(view.queries) and np.isfinite(bound):
            assert best[1] <= bound + 1e-9, seed
            bounded += 1
    assert bounded > 10


def chain(count: int) -> PlanView:
    """Queries that could share a step of 4 cores, on 6 cores, or run alone at a lower accuracy on 1 core."""
    work = np.array([[[4.0], [0.5]], [[1.0], [0.0]]])
    queries = tuple(
        QueryOptions(
            i,
            f"q{i}",
            np.array([0.9, 0.3]),
            work.sum(axis=1),
            piece=np.array([[7, 8 + i], [100 + i, -1]]),
            piece_demand=work,
        )
        for i in range(count)
    )
    return PlanView(0.0, ("cores",), np.array([6.0]), queries)


def test_reasons_state_the_distance_from_the_bound():
    plan = Refined(merge=True).decide(chain(4))
    assert plan.choices == (0, 0, 0, 0)
    assert plan.merged
    assert plan.why[0] == "starts: configuration 0, accuracy 0.9; at most 0.00% below the optimum"
    assert Refined().decide(chain(4)).choices.count(0) == 0


def test_without_programs_the_plan_is_that_of_the_switches():
    found, bound = refine_shared.refine_shared(chain(4), Problem.of_view(chain(4)), RefineLimits(seconds=0.0))
    assert found.tolist() == [0, 0, 0, 0]
    assert bound == np.inf


@pytest.mark.parametrize("stopped", ["relax_shared", "solve_shared"])
def test_a_solver_that_finds_nothing_in_its_time_leaves_the_plan_of_the_switches(monkeypatch, stopped):
    monkeypatch.setattr(refine_shared, stopped, lambda *_: None)
    plan = Refined(merge=True).decide(chain(4))
    assert plan.choices == (0, 0, 0, 0)
    assert ("below the optimum" in plan.why[0]) is (stopped == "solve_shared")


def test_the_relaxation_is_stopped_by_its_time_limit():
    view = chain(3)
    problem = Problem.of_view(view)
    assert refine_shared.relax_shared(problem, shared_matrices(view, problem), 0.0) is None
    relaxed = refine_shared.relax_shared(problem, shared_matrices(view, problem), 60.0)
    assert relaxed.bound == pytest.approx(2.7)
    assert relaxed.share.tolist() == pytest.approx([1.0, 0.0] * 3)
    assert (relaxed.worth <= 0.0).all()


def test_programs_have_the_configurations_of_the_smallest_reduced_cost(monkeypatch):
    """With one configuration a query in addition, the program still has what the relaxation runs."""
    monkeypatch.setattr(refine_shared, "FEWEST", 1)
    seen = []
    solve = refine_shared.solve_shared
    monkeypatch.setattr(
        refine_shared, "solve_shared", lambda view, *limits: (seen.append(view), solve(view, *limits))[1]
    )
    view = sharing_view(203)
    plan = Refined(merge=True).decide(view)
    plan.check(view)
    assert [each.name for each in seen[0].queries] == [each.name for each in view.queries]
    assert all(1 <= len(own) <= len(each) for own, each in zip(seen[0].queries, view.queries, strict=True))


@pytest.mark.parametrize("queries", [(), (QueryOptions(0, "q", np.empty(0), np.empty((0, 1))),)])
def test_without_configurations_nothing_runs(queries):
    view = PlanView(0.0, ("cores",), np.array([4.0]), queries)
    assert Refined(merge=True).decide(view).choices == (-1,) * len(queries)


def test_queries_without_pieces_share_nothing():
    queries = tuple(
        QueryOptions(i, f"q{i}", np.array([0.4, 0.9]), np.array([[1.0], [4.0]])) for i in range(3)
    )
    view = PlanView(0.0, ("cores",), np.array([6.0]), queries)
    assert sorted(Refined(merge=True).decide(view).choices) == [0, 0, 1]
