"""VideoStorm and fair parts, against plain versions."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plan import plain
from tests.plan.cases import tied_case
from windlass.model import InputError
from windlass.plan import PlanView, QueryOptions, fair, videostorm
from windlass.plan.lib.fair import fair_choices
from windlass.plan.lib.storm import storm_choices
from windlass.plan.policies.fair import Fair
from windlass.plan.policies.videostorm import Videostorm


@pytest.fixture(autouse=True)
def _exact_capacities(monkeypatch):
    for name in ("storm", "fair", "problem"):
        monkeypatch.setattr(f"windlass.plan.lib.{name}.ROOM", 1.0)


def placed_case(seed):
    """A tied case in which plans have several placements: equal accuracy and cores, on other resources."""
    case, rng = tied_case(seed, most=4), np.random.default_rng(seed)
    accuracy, demand = [], []
    for own, rows in zip(case.accuracy, case.demand, strict=True):
        other = np.stack([rng.permutation(row) for row in rows]) if len(rows) else rows
        accuracy.append(np.concatenate([own, own]))
        demand.append(np.concatenate([rows, other]))
    return accuracy, demand, case.capacity


def test_plans_and_placements_equal_the_plain_version():
    for seed in range(120):
        accuracy, demand, capacity = placed_case(seed)
        cores = None if seed % 3 == 0 else list(range(0, len(capacity), 2))
        work = [rows[:, slice(None) if cores is None else cores].sum(axis=1) for rows in demand]
        problem = plain.Problem.of(accuracy, demand, capacity)
        pool = capacity[slice(None) if cores is None else cores].sum()
        expected = plain.stormed(problem, np.concatenate(work), pool, np.random.default_rng(seed))
        found = videostorm(accuracy, demand, capacity, np.random.default_rng(seed), cores)
        assert found.tolist() == expected, seed


def test_a_plan_is_made_for_the_pool_and_placed_once():
    """The pool of 8 cores takes 3 and 5, but the cluster with 5 is held by the first query's only placement."""
    accuracy = [[0.5], [0.3, 0.9]]
    demand = [[[0.0, 3.0]], [[1.0, 0.0], [0.0, 5.0]]]
    assert videostorm(accuracy, demand, [3.0, 5.0], np.random.default_rng(1)).tolist() == [0, -1]
    assert videostorm(accuracy, demand, [3.0, 8.0], np.random.default_rng(1)).tolist() == [0, 1]
    # A pool of 7 cores has no room for the plan of 5, so the query runs the one of 1.
    assert videostorm(accuracy, demand, [2.0, 5.0], np.random.default_rng(1)).tolist() == [0, 0]


def test_a_query_whose_plan_fits_nowhere_may_run_a_cheaper_one():
    moved = 0
    for seed in range(120):
        accuracy, demand, capacity = placed_case(seed)
        problem = plain.Problem.of(accuracy, demand, capacity)
        work = np.concatenate([rows.sum(axis=1) for rows in demand])
        both = [
            storm_choices(problem, work, capacity.sum(), np.random.default_rng(seed), cheaper)
            for cheaper in (False, True)
        ]
        expected = plain.stormed(problem, work, capacity.sum(), np.random.default_rng(seed), True)
        assert both[1].tolist() == expected, seed
        moved += (both[0] < 0).sum() > (both[1] < 0).sum()
    assert moved > 5
    # The plan of 5 cores fits nowhere next to the first query; that of 1 does.
    rows = [[[0.0, 3.0]], [[1.0, 0.0], [0.0, 5.0]]]
    queries = tuple(
        QueryOptions(i, f"q{i}", np.array(own), np.array(needs))
        for i, (own, needs) in enumerate(zip([[0.5], [0.3, 0.9]], rows, strict=True))
    )
    view = PlanView(0.0, ("a.cores", "b.cores"), np.array([3.0, 5.0]), queries)
    rng = np.random.default_rng(1)
    assert Videostorm(rng, "cheaper").decide(view).choices == (0, 0)
    assert Videostorm(rng).decide(view).choices == (0, -1)
    with pytest.raises(InputError, match="otherwise is 'other', expected one of nothing, cheaper"):
        Videostorm(rng, "other")


def test_the_policy_counts_resources_named_cores():
    differs = 0
    for seed in range(20):
        accuracy, demand, capacity = placed_case(seed)
        names = tuple(f"at.{'cores' if at % 2 else 'up'}" for at in range(len(capacity)))
        queries = tuple(
            QueryOptions(i, f"q{i}", *both) for i, both in enumerate(zip(accuracy, demand, strict=True))
        )
        plan = Videostorm(np.random.default_rng(1)).decide(PlanView(0.0, names, capacity, queries))
        odd = list(range(1, len(capacity), 2))
        given = videostorm(accuracy, demand, capacity, np.random.default_rng(1), odd).tolist()
        assert list(plan.choices) == given
        differs += given != videostorm(accuracy, demand, capacity, np.random.default_rng(1)).tolist()
    assert differs


@pytest.mark.parametrize("among", ["users", "queries"])
def test_fair_parts_equal_the_plain_version(among):
    for seed in range(150):
        case = tied_case(seed)
        assert fair(*case.arrays, among).tolist() == plain.fair_parts(case.problem, among), seed


def test_shares_of_users_fit_together_and_are_never_worse_than_those_of_all_queries():
    better = 0
    for seed in range(150):
        problem = tied_case(seed).problem
        users, queries = (fair_choices(problem, among) for among in ("users", "queries"))
        assert problem.fits(users)
        assert problem.score(users) >= problem.score(queries)
        better += problem.score(users) > problem.score(queries)
    assert better


def test_a_share_is_of_users_or_of_queries():
    with pytest.raises(InputError, match="among is 'all', expected one of users, queries"):
        fair([[0.5]], [[[1.0]]], [1.0], "all")
    with pytest.raises(InputError, match="among is 'all', expected one of users, queries"):
        Fair("all")


def test_the_reason_of_a_query_without_a_configuration_in_its_share_names_the_share():
    one = np.array([0.5]), np.array([[6.0]])
    queries = tuple(QueryOptions(at, f"q{at}", *one) for at in range(2))
    plan = Fair().decide(PlanView(0.0, ("cloud.cores",), np.array([10.0]), queries))
    assert plan.why == ("cannot run: not enough cloud.cores: needs 6, 5 left of 10",) * 2
