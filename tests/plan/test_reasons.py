"""The reasons of plans: the change of a query, and the resource that keeps it from running."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plan.test_merging import merged_demand, sharing_view
from windlass.plan import PlanView, QueryOptions
from windlass.plan.lib.answer import as_plan
from windlass.plan.lib.problem import ROOM
from windlass.plan.lib.program import ProgramSolution
from windlass.plan.lib.refine import RefineLimits
from windlass.plan.policies import optimal, refined
from windlass.plan.policies.cascade import Cascade
from windlass.plan.policies.fair import Fair
from windlass.plan.policies.same_location import SameLocation


def shortage(view: PlanView, choices, i: int, merged: bool, part) -> str:
    """Return the short resource of the configuration with the smallest shortage; the first one of equals."""
    own, capacity = view.queries[i], view.capacity
    if not len(own):
        return "it has no configurations"
    taken = np.zeros(len(capacity))
    share = np.ones(len(capacity)) if part is None else part
    if part is None:
        pairs = zip(view.queries, choices, strict=True)
        alone = sum((each.demand[j] for each, j in pairs if j >= 0), taken)
        requested = merged_demand(view, choices) if merged else alone
        taken = np.array([a / c if a > 0 else 0.0 for a, c in zip(requested, capacity, strict=True)])
    lacks = []
    for j, row in enumerate(own.demand.tolist()):
        parts = [(a / c if c > 0 else np.inf) for a, c in zip(row, capacity, strict=True)]
        over = [
            (p + t - share[at] * ROOM, -at)
            for at, (p, t) in enumerate(zip(parts, taken, strict=True))
            if row[at] > 0 and p > 0
        ]
        lack, at = max(over, default=(-np.inf, 0))
        lacks.append((lack, j, -at))
    lack, j, at = min(lacks)
    if lack <= 0:
        return f"{own.label(j)} would fit, but the policy does not consider it"
    left = max(0.0, capacity[at] * (share[at] - taken[at]))
    return f"not enough {view.resources[at]}: needs {own.demand[j, at]:.3g}, {left:.3g} left of {capacity[at]:.3g}"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("merged", [False, True])
def test_the_short_resource_is_that_of_the_smallest_shortage(merged):
    count = 0
    for seed in range(80):
        view = sharing_view(seed)
        rng = np.random.default_rng(seed)
        choices = np.full(len(view.queries), -1)
        part = None if seed % 3 else 1.0 / rng.integers(1, 5, len(view.capacity) + 1)
        for i, each in enumerate(view.queries):
            tried = choices.copy()
            tried[i] = rng.integers(-1, len(each))
            if (merged_demand(view, tried) <= view.capacity).all():
                choices = tried
        plan = as_plan(view, choices, merged, part)
        assert plan.choices == tuple(choices.tolist())
        assert plan.merged == merged
        for i, (why, choice) in enumerate(zip(plan.why, plan.choices, strict=True)):
            if choice < 0:
                assert why == f"cannot run: {shortage(view, choices, i, merged, part)}", seed
                count += 1
    assert count > 30


def one_pool(*queries, cores=10.0) -> PlanView:
    """Queries of accuracies and cores, and their current configurations, on one pool."""
    return PlanView(
        0.0,
        ("cloud.cores",),
        np.array([cores]),
        tuple(
            QueryOptions(at, f"q{at}", np.array(accuracy), np.array(requested)[:, None], current=current)
            for at, (accuracy, requested, current) in enumerate(queries)
        ),
    )


def test_reasons_name_the_change():
    view = one_pool(
        ([0.25, 0.5], [1.0, 2.0], -1),
        ([0.25, 0.5], [1.0, 2.0], 1),
        ([0.25, 0.5], [1.0, 2.0], 0),
        ([0.5, 0.25], [2.0, 1.0], 0),
        ([0.0, 0.0], [2.0, 1.0], 0),
    )
    plan = as_plan(view, np.array([0, 1, 1, 1, 1]))
    assert plan.why == (
        "starts: configuration 0, accuracy 0.25",
        "stays: configuration 1, accuracy 0.5",
        "more accurate, 0.5 after 0.25: configuration 1",
        "less accurate, 0.25 after 0.5, to fit: configuration 1",
        "equally accurate, 0, with other resources: configuration 1",
    )
    assert not plan.merged


def test_a_fair_part_is_divided_by_the_users_of_the_resource():
    view = one_pool(([0.5], [6.0], -1), ([0.5], [1.0], -1))
    assert Fair().decide(view).why[0] == "cannot run: not enough cloud.cores: needs 6, 5 left of 10"
    assert Fair().decide(one_pool()).choices == ()


def test_a_configuration_that_the_policy_ignores_is_named():
    place = np.array([[0, 1]])
    query = QueryOptions(1, "cars", np.array([0.5]), np.ones((1, 1)), ("here and there",), place=place)
    view = PlanView(0.0, ("cloud.cores",), np.ones(1), (query,))
    assert SameLocation().decide(view).why == (
        "cannot run: here and there would fit, but the policy does not consider it",
    )


def test_a_greedy_plan_below_fair_parts_has_a_remark():
    """A plan with one step up leaves the other query below its fair part; with room for both there is no remark."""
    ladder, remark = ([0.25, 0.5], [1.0, 4.0], -1), "; fair shares would do better"
    worse, better = (Cascade().decide(one_pool(ladder, ladder, cores=cores)) for cores in (8.0, 9.0))
    assert worse.choices == (1, 0)
    assert worse.why == tuple(
        f"starts: configuration {j}, accuracy {accuracy}{remark}" for j, accuracy in ((1, 0.5), (0, 0.25))
    )
    assert better.choices == (1, 1)
    assert not any(remark in why for why in better.why)
    equal = Cascade().decide(one_pool(([0.5], [1.0], -1)))
    assert not any(remark in why for why in equal.why)


@pytest.mark.parametrize(
    ("bound", "proven", "gap", "remark"),
    [
        (1.0, True, 1e-4, "at the optimum"),
        (1.25, True, 1e-4, "at most 20.00% below the optimum"),
        (1.25, True, 0.2, "at the optimum"),
        (1.25, True, 0.19, "at most 20.00% below the optimum"),
        (1.25, False, 0.1, "at most 20.00% below the optimum, stopped by the time limit"),
        (1.0, False, 0.1, "at the optimum, stopped by the time limit"),
        (1.0 + 1e-10, True, 0.0, "at the optimum"),
        (0.0, True, 0.0, "at the optimum"),
    ],
)
def test_the_solver_s_plan_reports_its_gap_to_the_optimum(bound, proven, gap, remark, monkeypatch):
    view, requested = one_pool(*[([0.5], [2.0], -1)] * 2), []

    def solve(problem, *terms):
        requested.append(terms)
        return ProgramSolution(np.array([0, 0]), bound, proven)

    monkeypatch.setattr(optimal, "solve", solve)
    plan = optimal.Optimal(7.0, gap).decide(view)
    assert requested == [(7.0, gap)]
    assert plan.choices == (0, 0)
    assert plan.why == (f"starts: configuration 0, accuracy 0.5; {remark}",) * 2


def test_without_an_optimum_in_time_the_plan_is_the_greedy_s(monkeypatch):
    monkeypatch.setattr(optimal, "solve", lambda *_: None)
    ladder = ([0.25, 0.5, 1.0], [1.0, 4.0, 9.0], -1)
    plan, greedy = (each.decide(one_pool(ladder, ladder)) for each in (optimal.Optimal(), Cascade()))
    assert plan.choices == greedy.choices
    assert plan.why[0].endswith("; no optimum found in time")


@pytest.mark.parametrize(("bound", "remark"), [(2.0, "50.00%"), (1.0, "0.00%"), (0.5, "0.00%"), (0.0, None)])
def test_the_refined_plan_reports_its_gap_to_the_optimum(bound, remark, monkeypatch):
    def refine(_, limits):
        assert limits == RefineLimits(3, 4, 2.0)
        return choices, bound

    monkeypatch.setattr(refined, "refine", refine)
    view, choices = one_pool(*[([0.5], [2.0], -1)] * 2), np.array([0, 0])
    end = "" if remark is None else f"; at most {remark} below the optimum"
    assert refined.Refined(3, 4).decide(view).why == (f"starts: configuration 0, accuracy 0.5{end}",) * 2
    choices = np.array([0, -1])
    assert not any("optimum" in why for why in refined.Refined(3, 4).decide(view).why)
