"""Planners that compare undominated configurations only: they choose what they would choose among all."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.plan import plain
from tests.plan.cases import plain_greedy, tiered_case
from windlass.plan import PlanView, QueryOptions
from windlass.plan.lib.fair import fair_choices
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.problem import Problem, from_undominated
from windlass.plan.policies.cascade import Cascade
from windlass.plan.policies.fair import Fair

#: Demands and capacities whose quotients are rounded, and others whose are not; few, so that there are ties.
DEMANDS = (0.0, 0.0, 0.1, 0.3, 0.5, 1.0, np.nextafter(1.0, 2.0), 1.5)
CAPACITIES = (0.0, 0.3, 0.7, 1.0, 2.0, 3.0, np.inf)
ACCURACIES = (0.0, 0.1, 0.3, 0.5, np.nextafter(0.5, 1.0), 1.0)


@st.composite
def views(draw) -> PlanView:
    """Up to five queries of up to seven configurations, on up to four resources."""
    wide = draw(st.integers(1, 4))
    queries = []
    for number in range(draw(st.integers(0, 5))):
        k = draw(st.integers(0, 7))
        accuracy = draw(st.lists(st.sampled_from(ACCURACIES), min_size=k, max_size=k))
        demand = draw(st.lists(st.sampled_from(DEMANDS), min_size=k * wide, max_size=k * wide))
        unused = draw(st.integers(-1, wide - 1))
        needs = np.array(demand).reshape(k, wide)
        needs[:, unused + 1 :] = 0.0 if unused >= 0 else needs[:, unused + 1 :]
        queries.append(QueryOptions(number, f"q{number}", np.array(accuracy), needs))
    capacity = draw(st.lists(st.sampled_from(CAPACITIES), min_size=wide, max_size=wide))
    return PlanView(0.0, tuple(f"r{at}" for at in range(wide)), np.array(capacity), tuple(queries))


def tied() -> PlanView:
    """With unlimited links, configurations of different demand cost the same; the first of equals counts."""
    needs = np.array([[1.0, 2.0], [1.0, 1.0], [1.0, 1.0]])
    query = QueryOptions(0, "cars", np.full(3, 0.5), needs)
    return PlanView(0.0, ("cores", "link"), np.array([4.0, np.inf]), (query,))


def same(one: Problem, other: Problem) -> bool:
    """Return whether two problems have the same arrays, to the bit."""
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        for field in dataclasses.fields(Problem)
    )


@settings(max_examples=200)
@given(views())
@example(tied())
def test_a_problem_is_the_one_that_is_built_query_by_query(view):
    assert same(Problem.of_view(view), plain.problem_of(view))
    kept = [each.compact.undominated.number for each in view.queries]
    few = [
        QueryOptions(at, each.name, each.accuracy[own], each.demand[own])
        for at, (each, own) in enumerate(zip(view.queries, kept, strict=True))
    ]
    plainly = plain.problem_of(dataclasses.replace(view, queries=tuple(few)))
    problem = Problem.undominated(view)
    assert np.array_equal(problem.accuracy, plainly.accuracy)
    assert np.array_equal(problem.cost, plainly.cost)
    assert np.array_equal(problem.by_accuracy, plainly.by_accuracy)
    assert np.array_equal(problem.start, plainly.start)


@settings(max_examples=200)
@given(views())
@example(tied())
def test_undominated_configurations_are_those_of_the_definition(view):
    for each in view.queries:
        assert each.compact.undominated.number.tolist() == plain.undominated(each.accuracy, each.demand)


@settings(max_examples=300)
@given(views(), st.sampled_from((1.0, 1.5, 2.0, np.inf)), st.booleans(), st.booleans(), st.booleans())
@example(tied(), 2.0, False, False, False)
def test_the_greedy_chooses_the_same_as_among_all(view, band, release, plainly, sums):
    full, few = Problem.of_view(view), Problem.undominated(view)
    if sums:
        full, few = (dataclasses.replace(each, cost=each.demand.sum(axis=1)) for each in (full, few))
    choices = from_undominated(view, greedy(few, band, release, plainly))
    assert choices.tolist() == greedy(full, band, release, plainly).tolist()
    assert choices.tolist() == plain_greedy(full, band, release, plainly).tolist()


@settings(max_examples=300)
@given(views(), st.sampled_from(("users", "queries")))
@example(tied(), "users")
def test_fair_shares_choose_the_same_as_among_all(view, among):
    problem = Problem.of_view(view)
    expected = plain.fair_choices(problem, among).tolist()
    assert fair_choices(problem, among).tolist() == expected
    assert from_undominated(view, fair_choices(Problem.undominated(view), among)).tolist() == expected
    assert list(Fair(among).decide(view).choices) == expected


@settings(max_examples=100)
@given(views(), st.booleans(), st.sampled_from(("dominant", "sum")), st.sampled_from(("difference", "plain")))
def test_cascade_compares_its_plan_with_fair_shares_of_all(view, release, cost, efficiency):
    problem = Problem.of_view(view)
    climbed = problem
    if cost == "sum":
        climbed = dataclasses.replace(problem, cost=problem.demand.sum(axis=1))
    choices = greedy(climbed, 2.0, release, efficiency == "plain")
    plan = Cascade(2.0, release, cost, efficiency).decide(view)
    assert list(plan.choices) == choices.tolist()
    worse = problem.score(choices) < problem.score(plain.fair_choices(problem))
    assert all(why.endswith("; fair shares would do better") == worse for why in plan.why)


@pytest.mark.parametrize("seed", range(3))
def test_of_drawn_queries_few_configurations_are_compared(seed):
    case = tiered_case(seed, n=12, cameras=4)
    queries = tuple(
        QueryOptions(at, f"q{at}", *each)
        for at, each in enumerate(zip(case.accuracy, case.demand, strict=True))
    )
    view = PlanView(0.0, tuple(f"r{at}" for at in range(len(case.capacity))), case.capacity, queries)
    full, few = Problem.of_view(view), Problem.undominated(view)
    assert len(few.accuracy) < 0.4 * len(full.accuracy)
    for band, release in ((2.0, False), (1.0, True), (np.inf, False)):
        assert (
            from_undominated(view, greedy(few, band, release)).tolist()
            == greedy(full, band, release).tolist()
        )
    assert from_undominated(view, fair_choices(few)).tolist() == plain.fair_choices(full).tolist()
