"""What is proven about plans, compared with an exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plan import plain
from tests.plan.cases import tied_case
from windlass.plan import proof
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.program import ProgramSolution
from windlass.plan.lib.refine import refine
from windlass.plan.proof import prove


@pytest.mark.matrix(0)
def test_nothing_is_proven_that_an_exhaustive_search_contradicts():
    fewer = 0
    for seed in range(60):
        case = tied_case(seed, most=3)
        problem = case.problem
        if not len(problem.accuracy):
            continue
        most, best = plain.best_of_all(problem)
        none = np.full(len(problem), -1)
        for choices in (refine(problem)[0], greedy(problem, 2.0), none):
            count, total = problem.score(choices)
            found = prove(*case.arrays, choices, 10.0)
            assert count <= found.found <= most <= found.most
            assert (found.most, found.found) == (most, most)
            # The bound is for plans with as many queries as are found to run.
            assert found.bound >= best - 1e-6
            if count == most:
                assert total <= found.bound + 1e-6
            fewer += found.found > count
    assert fewer


def test_the_solver_is_called_only_where_the_relaxation_does_not_suffice(monkeypatch):
    calls = []

    def none_in_time(problem, seconds, gap):
        calls.append((seconds, gap))

    monkeypatch.setattr(proof, "solve", none_in_time)
    case = [[0.25, 0.75], [0.5]], [[[1.0], [4.0]], [[2.0]]], [5.0]
    # In the relaxation the second one takes 2, and the first one 3: a third of it at 1, the rest at 4.
    value = 0.5 + 0.25 / 3 + 0.75 * 2 / 3
    full = prove(*case, np.array([0, 0]), 7.0, 0.75 / value - 1e-6)
    assert (full.bound, full.most, full.found, calls) == (pytest.approx(value), 2, 2, [])
    far = prove(*case, np.array([0, 0]), 7.0, 0.75 / value + 1e-6)
    assert (far.bound, far.most, far.found, calls) == (pytest.approx(value), 2, 2, [(7.0, 1e-4)])
    short = prove(*case, np.array([1, -1]), 7.0)
    assert (short.most, short.found, len(calls)) == (2, 1, 2)
    assert short.bound == pytest.approx(value)


def test_the_relaxation_runs_as_many_queries_as_the_plan():
    # One query alone could have 0.9. Both run at 0.1, and three quarters of one of them at 0.9.
    case = [[0.1, 0.9]] * 2, [[[1.0], [5.0]]] * 2, [5.0]
    assert prove(*case, np.array([0, 0]), 5.0, 0.2).bound == pytest.approx(0.8)


@pytest.mark.parametrize(("bound", "proven"), [(0.9, False), (1.2, False), (0.75, True)])
def test_of_two_bounds_the_lower_one_holds(bound, proven, monkeypatch):
    solution = ProgramSolution(np.array([0, 0]), bound, proven)
    monkeypatch.setattr(proof, "solve", lambda problem, seconds, gap: solution)
    case = [[0.25, 0.75], [0.5]], [[[1.0], [4.0]], [[2.0]]], [5.0]
    found = prove(*case, np.array([0, 0]), 7.0)
    assert found.bound == pytest.approx(min(bound, 0.5 + 0.25 / 3 + 0.75 * 2 / 3))
    assert (found.most, found.found) == (2, 2)


def test_without_a_query_that_can_run_nothing_is_possible():
    found = prove([[0.5]], [[[2.0]]], [1.0], np.array([-1]), 5.0)
    assert (found.bound, found.most, found.found) == (0.0, 0, 0)
