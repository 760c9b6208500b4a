"""Integer programs on few configurations of each query: as many queries run as can, and sums near the optimum."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plan import plain
from tests.plan.cases import loose_case, tied_case
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.program import solve
from windlass.plan.lib.refine import refine
from windlass.plan.lib.restricted import _lightest, more_accurate, more_running


def test_as_many_queries_run_as_can():
    """Two need the same half of the only resource that the greedy gives away: one of them can go elsewhere."""
    needs = [[[3.0, 0.0], [0.0, 9.0]], [[3.0, 0.0]], [[0.0, 6.0]]]
    problem = Problem.of([[0.5, 0.4], [0.5], [0.5]], needs, [3.0, 15.0])
    first = np.array([0, -1, 0])
    assert more_running(problem, first, 5.0).tolist() == [1, 0, 0]
    full = np.array([1, 0, 0])
    assert more_running(problem, full, 5.0) is full
    short = Problem.of([[0.5, 0.4], [0.5], [0.5]], needs, [3.0, 8.0])
    assert more_running(short, first, 5.0) is first


def test_the_number_of_running_queries_equals_an_exhaustive_search():
    for seed in range(60):
        problem = tied_case(seed, most=3).problem
        if not len(problem.accuracy):
            continue
        found = more_running(problem, greedy(problem, 2.0), 5.0)
        assert problem.fits(found)
        assert problem.score(found)[0] == plain.best_of_all(problem)[0], seed


@pytest.mark.matrix(0)
def test_programs_on_all_configurations_reach_the_optimum():
    gained = 0
    for seed in range(20):
        problem = loose_case(seed, n=8, most=8, resources=3).problem
        begin = greedy(problem, 2.0)
        most = more_running(problem, begin, 5.0)
        found = more_accurate(problem, np.ones(len(problem.accuracy), dtype=bool), most, 5.0)
        best = solve(problem, 10.0, 1e-6)
        assert problem.fits(found)
        assert problem.score(found) >= problem.score(begin)
        assert problem.score(found)[0] == problem.score(best.choices)[0]
        assert problem.score(found)[1] >= (1 - 1e-3) * problem.score(best.choices)[1]
        gained += problem.score(found) > problem.score(begin)
    assert gained


def test_the_lightest_configurations_are_undercut_by_no_other():
    for seed in range(40):
        problem = tied_case(seed).problem
        keep, demand = _lightest(problem), plain.wide(problem)
        for i in range(len(problem)):
            rows = [row for row in plain.rows_of(problem, i) if (demand[row] <= 1.0).all()]
            light = [row for row in rows if keep[row]]
            assert not any(keep[row] for row in plain.rows_of(problem, i) if row not in rows)
            for row in rows:
                under = [other for other in light if (demand[other] <= demand[row]).all()]
                assert under == [row] if keep[row] else under


def test_the_same_problem_has_the_same_plan():
    problem = loose_case(3, n=12, most=12, resources=3).problem
    first, again = (refine(problem)[0].tolist() for _ in range(2))
    assert first == again
