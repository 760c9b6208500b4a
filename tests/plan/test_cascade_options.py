"""Options of the policy cascade, and the use of fair parts in refining, against plain versions and by hand."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from tests.plan.cases import loose_case, plain_greedy
from windlass.plan import POLICIES, PlanView, QueryOptions
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.refine import refine


def view_of(case) -> PlanView:
    """The view of a policy on a drawn case."""
    queries = tuple(
        QueryOptions(at, f"q{at}", accuracy, demand)
        for at, (accuracy, demand) in enumerate(zip(case.accuracy, case.demand, strict=True))
    )
    names = tuple(f"site-{at}.cores" for at in range(len(case.capacity)))
    return PlanView(0.0, names, case.capacity, queries)


@pytest.mark.parametrize("efficiency", ["difference", "plain"])
@pytest.mark.parametrize("cost", ["dominant", "sum"])
def test_each_option_of_cascade_equals_the_plain_greedy(cost, efficiency):
    found = []
    for seed, (band, release) in enumerate(itertools.product((1.0, 2.0, np.inf), (False, True))):
        case = loose_case(seed, n=8, most=8, resources=3)
        problem = case.problem
        if cost == "sum":
            problem = dataclasses.replace(problem, cost=problem.demand.sum(axis=1))
        policy = POLICIES.find("cascade")(band, release, cost, efficiency)
        choices = policy.decide(view_of(case)).choices
        assert list(choices) == plain_greedy(problem, band, release, plain=efficiency == "plain").tolist()
        found.append(choices)
    assert len(set(found)) > 1


def test_fair_parts_win_where_prices_miss_them():
    """Of one resource, 0.6 for 0.7 is better by price than 0.5 for 0.55, and does not fit twice.

    The greedy and the rounded relaxation give one query 0.6 and the other nothing; fair parts give 0.5 to both. With
    one configuration kept by its worth, no other step knows of the 0.5.
    """
    problem = Problem.of([[0.0, 0.7, 0.55]] * 2, [[[0.0], [0.6], [0.5]]] * 2, [1.0])
    for sweeps in (0, 1, 20):
        choices, bound = refine(problem, 1, sweeps)
        assert choices.tolist() == [2, 2]
        assert bound >= 1.1
    assert plain_greedy(problem, 2.0, True).tolist() == [1, 0]
