"""Views and plans: values at a bound are allowed, values beyond it are rejected by name."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.model import InputError, PolicyError
from windlass.plan import Plan, PlanView, QueryOptions, cascade, fair, optimal, refined, videostorm
from windlass.plan.lib.places import in_one_place, on_tier
from windlass.plan.lib.problem import Problem
from windlass.plan.view import TOLERANCE

NOT_A_NUMBER = float("nan")


def options(query=1, accuracy=(0.25, 0.75), demand=((1.0, 2.0), (3.0, 4.0)), **more):
    return QueryOptions(query, f"q{query}", np.array(accuracy), np.array(demand), **more)


def view(*queries, capacity=(10.0, 10.0), names=("cores", "up"), now=0.0):
    return PlanView(now, names, np.array(capacity), queries)


def test_values_at_a_bound_are_allowed():
    both = options(0, accuracy=(0.0, 1.0), demand=((0.0, 0.0), (0.0, 1e300)), current=1)
    assert len(both) == 2
    assert options(current=-1).label(1) == "configuration 1"
    assert options(labels=("a", "b")).label(1) == "b"
    assert len(options(accuracy=(), demand=np.empty((0, 2)))) == 0
    piece = {"piece": np.zeros((2, 3), np.int64), "piece_demand": np.ones((2, 3, 2))}
    assert options(**piece, place=np.zeros((2, 3), np.int64)).piece is not None
    assert view(capacity=(0.0, np.inf)).queries == ()
    assert view(now=-5.0).now == -5.0


def test_options_with_another_running_configuration_share_their_arrays():
    before = options(labels=("a", "b"), current=1)
    after = before.running(0)
    assert (after.current, before.current) == (0, 1)
    assert (after.query, after.name, after.labels) == (1, "q1", ("a", "b"))
    assert after.demand is before.demand
    assert after.compact is before.compact
    assert before.running(-1).current == -1
    for current in (-2, 2):
        with pytest.raises(InputError, match=f"current is {current}, expected −1 to 1"):
            before.running(current)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"query": -1}, "query is -1"),
        ({"demand": (1.0, 2.0)}, r"demand has shape \(2,\), expected \(2, 0\)"),
        ({"demand": ((1.0, 2.0),)}, r"demand has shape \(1, 2\), expected \(2, 2\)"),
        ({"accuracy": (0.5, 1.01)}, "accuracy of configuration 1 is 1.01, expected 0 to 1"),
        ({"accuracy": (-0.01, 1.0)}, "accuracy of configuration 0 is -0.01"),
        ({"accuracy": (0.5, NOT_A_NUMBER)}, "accuracy of configuration 1 is nan"),
        ({"demand": ((1.0, 2.0), (np.inf, 4.0))}, "demand of configuration 1 of resource 0 is inf"),
        ({"demand": ((1.0, -2.0), (0.0, 4.0))}, "demand of configuration 0 of resource 1 is -2.0"),
        ({"labels": ("a",)}, "1 labels, expected 2"),
        ({"current": 2}, "current is 2, expected −1 to 1"),
        ({"current": -2}, "current is -2"),
        ({"piece": np.zeros((2, 3))}, r"piece_demand has shape \(\), expected \(2, 3, 2\)"),
        ({"piece_demand": np.zeros((2, 3, 2))}, r"piece has shape \(\), expected \(2, 0\)"),
        ({"piece": np.zeros(2), "piece_demand": np.zeros((2, 0, 2))}, r"piece has shape \(2,\)"),
        ({"piece": np.zeros((1, 3)), "piece_demand": np.zeros((2, 3, 2))}, r"piece has shape \(1, 3\)"),
        ({"place": np.zeros(2)}, "place has shape"),
        ({"place": np.zeros((3, 1))}, "place has shape"),
    ],
)
def test_an_invalid_query_is_named_in_the_error(more, message):
    with pytest.raises(InputError, match=message):
        options(**more)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: view(capacity=(1.0,)), "capacity has shape"),
        (lambda: view(capacity=(1.0, -1.0)), "capacity of up is -1.0"),
        (lambda: view(capacity=(NOT_A_NUMBER, 1.0)), "capacity of cores is nan"),
        (lambda: view(now=NOT_A_NUMBER), "now"),
        (lambda: view(options(3), options(4), options(3)), "query 3 is in the view twice"),
        (lambda: view(options(demand=((1.0,), (2.0,)))), "demand has 1 columns, expected 2"),
    ],
)
def test_an_invalid_view_is_named_in_the_error(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("choices", "why", "message"),
    [
        ((0,), ("a", "b"), "1 choices and 2 reasons, expected 2 of each"),
        ((0, 1), ("a",), "2 choices and 1 reasons"),
        ((0, 2), ("a", "b"), "query q2: configuration 2, expected a whole number from −1 to 1"),
        ((-2, 1), ("a", "b"), "query q1: configuration -2"),
        ((0, True), ("a", "b"), "query q2: configuration True"),
        ((0, 1.0), ("a", "b"), "query q2: configuration 1.0"),
        ((0, 1), ("a", ""), "query q2: no reason is given"),
        ((1, 1), ("a", "b"), "up: total demand is 8, capacity is 7"),
    ],
)
def test_an_infeasible_plan_is_rejected(choices, why, message):
    two = view(options(1), options(2), capacity=(6.0, 7.0))
    with pytest.raises(PolicyError, match=message):
        Plan(choices, why).check(two)


def test_plans_that_fit_are_accepted_and_are_not_merged_by_default():
    two = view(options(1), options(2), capacity=(6.0, 8.0))
    plan = Plan((1, 1), ("a", "b"))
    plan.check(two)
    assert not plan.merged
    assert plan.demand(two).tolist() == [6.0, 8.0]
    Plan((-1, -1), ("a", "b")).check(two)
    assert Plan((-1, 0), ("a", "b")).demand(two).tolist() == [1.0, 2.0]


def test_a_sum_may_exceed_a_capacity_only_by_a_rounding_error():
    assert TOLERANCE == 1e-9
    for part, fits in ((0.9, True), (1.1, False)):
        own = options(accuracy=(0.5,), demand=((1000.0 * (1.0 + part * TOLERANCE), 0.0),))
        tight = view(own, capacity=(1000.0, 0.0))
        if fits:
            Plan((0,), ("a",)).check(tight)
        else:
            with pytest.raises(PolicyError, match="cores"):
                Plan((0,), ("a",)).check(tight)


def test_work_is_merged_only_if_the_plan_is_merged():
    """Of two profiles of a piece the higher demand counts, per resource; a missing piece has no demand."""
    one = {"piece": np.array([[5, 6, -1]]), "piece_demand": np.array([[[2.0, 1.0], [4.0, 0.0], [0.0, 0.0]]])}
    two = {"piece": np.array([[5, 7, -1]]), "piece_demand": np.array([[[1.0, 3.0], [8.0, 0.0], [0.0, 0.0]]])}
    queries = [
        options(at, (0.5,), np.sum(each["piece_demand"], axis=1), **each)
        for at, each in enumerate((one, two))
    ]
    pair = view(*queries, options(3, (0.5,), ((16.0, 0.0),)))
    alone, merged = (Plan((0, 0, 0), ("a",) * 3, merged=merged) for merged in (False, True))
    assert alone.demand(pair).tolist() == [31.0, 4.0]
    assert merged.demand(pair).tolist() == [2.0 + 4.0 + 8.0 + 16.0, 3.0]


#: Two plans on three clusters; the second has one component, and -1 for the missing one.
PLACES = np.array([[4, 4], [4, 2], [4, 0], [2, 2], [2, 0], [0, 0], [4, -1], [2, -1], [0, -1]])


def test_configurations_are_filtered_by_place():
    nine = options(accuracy=[0.5] * 9, demand=np.ones((9, 1)), place=PLACES)
    assert np.flatnonzero(in_one_place(nine)).tolist() == [0, 3, 5, 6, 7, 8]
    tiers = {tier: np.flatnonzero(on_tier(nine, tier)).tolist() for tier in range(-5, 5)}
    low, middle, high = [0, 6], [3, 7], [5, 8]
    assert tiers == {
        **{-5: [], -4: [], -3: low, -2: middle, -1: high},
        **{0: low, 1: middle, 2: high, 3: [], 4: []},
    }
    without_place = options()
    assert in_one_place(without_place).tolist() == on_tier(without_place, 7).tolist() == [True, True]


def test_a_problem_holds_demands_as_fractions_of_the_capacity():
    queries = (
        options(1, (0.25, 0.75), ((1.0, 0.0, 0.0), (2.0, 0.0, 0.0))),
        options(2, (0.5,), ((0.0, 3.0, 8.0),)),
        options(3, (), np.empty((0, 3))),
    )
    problem = Problem.of_view(view(*queries, capacity=(4.0, 0.0, np.inf), names=("a", "b", "c")))
    assert (len(problem), problem.resources) == (3, 3)
    assert problem.start.tolist() == [0, 2, 3, 3]
    assert problem.columns.tolist() == [[0, 3], [1, 2], [3, 3]]
    assert problem.demand.tolist() == [[0.25, 0.0], [0.5, 0.0], [np.inf, 0.0]]
    assert problem.cost.tolist() == [0.25, 0.5, np.inf]
    assert problem.owners().tolist() == [0, 0, 1]
    kept = np.array([False, True, True])
    small = problem.only(kept)
    assert (small.start.tolist(), small.accuracy.tolist()) == ([0, 1, 2, 2], [0.75, 0.5])
    assert (small.cost.tolist(), small.resources) == ([0.5, np.inf], 3)
    assert problem.whole(kept, np.array([0, 0, -1])).tolist() == [1, 0, -1]
    assert problem.whole(kept, np.array([-1, 0, -1])).tolist() == [-1, 0, -1]
    assert problem.used(np.array([1, -1, -1])).tolist() == [0.5, 0.0, 0.0, 0.0]
    assert problem.fits(np.array([1, -1, -1]))
    assert not problem.fits(np.array([-1, 0, -1]))
    assert problem.score(np.array([1, 0, -1])) == (2, 1.25)
    assert problem.score(np.array([1, -1, -1])) == (1, 0.75)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (([[0.5]], [[[1.0]]], 1.0), r"capacity has shape \(\)"),
        (([0.5], [[[1.0]]], [1.0]), r"query 0: accuracy has shape \(\)"),
        (([[0.5]], [[1.0]], [1.0]), r"query 0: demand has shape \(1,\)"),
        (([[0.5], []], [[[1.0]], [[1.0]]], [1.0]), r"query 1: demand has shape \(1, 1\), expected \(0, 1\)"),
        (([[0.5], [0.5]], [[[1.0]], []], [1.0]), r"query 1: demand has shape \(0,\), expected \(1, 1\)"),
        (([[0.5]], [[[1.0, 1.0, 1.0]]], [1.0, 0.0, -2.0]), "capacity of resource 2 is -2.0"),
    ],
)
def test_arrays_of_wrong_shapes_are_rejected(case, message):
    with pytest.raises(InputError, match=message):
        Problem.of(*case)


def test_a_query_without_configurations_may_be_any_empty_array():
    for nothing in ([], np.empty((0, 2)), np.empty(0)):
        assert Problem.of([[], [0.5]], [nothing, [[1.0, 1.0]]], [1.0, 1.0]).start.tolist() == [0, 0, 1]


def test_a_plan_for_other_queries_has_no_demand():
    with pytest.raises(ValueError, match="shorter"):
        Plan((0,), ("a",)).demand(view(options(1), options(2)))


def test_integers_give_the_same_results_as_floats():
    whole, real = (
        ([[0, 1]] * 2, [[[1, 0], [3, 2]]] * 2, [5, 4]),
        ([[0.0, 1.0]] * 2, [[[1.0, 0.0], [3.0, 2.0]]] * 2, [5.0, 4.0]),
    )
    for function in (cascade, refined, fair, optimal):
        assert function(*whole).tolist() == function(*real).tolist()
    found = [videostorm(*each, np.random.default_rng(1)).tolist() for each in (whole, real)]
    assert found[0] == found[1]
