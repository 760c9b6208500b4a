"""The binary program: what is asked of the solver, what its answers come to, and answers that do not quite fit."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from windlass.model import InputError
from windlass.plan import optimal
from windlass.plan.lib import program
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.program import solve


class Solver:
    """Answers with what it is given, in turn, and keeps what it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def __call__(self, weight, *, integrality, bounds, constraints, options):
        demand, choice, count = constraints
        self.asked.append(
            SimpleNamespace(
                weight=weight.tolist(),
                room=float(np.max(demand.ub)),
                low=np.broadcast_to(choice.lb, (2,)).tolist(),
                least=float(np.min(count.lb)),
                options=options,
            )
        )
        assert integrality.all()
        assert (bounds.lb, bounds.ub) == (0, 1)
        return self.answers.pop(0)


def answer(*x, bound=0.0, status=0):
    return SimpleNamespace(x=np.array(x, dtype=float) if x else None, mip_dual_bound=-bound, status=status)


NONE = answer(status=2)
TWO = Problem.of([[0.25, 0.75], [0.5]], [[[1.0], [4.0]], [[2.0]]], [5.0])
TIGHT = Problem.of([[0.25, 0.75], [0.5]], [[[1.0], [3.0]], [[2.0 + 1e-7]]], [5.0])


def solved(monkeypatch, *answers, problem=TWO):
    solver = Solver(*answers)
    monkeypatch.setattr(program, "milp", solver)
    found = solve(problem, 7.0, 0.125)
    assert not solver.answers
    return found, solver.asked


def test_all_run_where_all_can(monkeypatch):
    found, (asked,) = solved(monkeypatch, answer(1, 0, 1, bound=0.875))
    assert found.choices.tolist() == [0, 0]
    assert (found.bound, found.proven) == (0.875, True)
    assert asked.options == {"time_limit": 7.0, "mip_rel_gap": 0.125}
    assert (asked.weight, asked.low, asked.least, asked.room) == ([-0.25, -0.75, -0.5], [1, 1], 0.0, 1.0)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (0, 1)])
def test_else_as_many_run_as_can_and_of_these_the_best(first, second, monkeypatch):
    answers = NONE, answer(1, 0, 0, status=first), answer(0, 1, 0, bound=0.75, status=second)
    found, (_, count, best) = solved(monkeypatch, *answers)
    assert found.choices.tolist() == [1, -1]
    assert found.bound == 0.75
    assert found.proven == (first == second == 0)
    assert (count.weight, count.low, count.least) == ([-1.0, -1.0, -1.0], [0, 0], 0.0)
    assert count.options == {"time_limit": 7.0, "mip_rel_gap": 0.0}
    assert (best.weight, best.low, best.least) == ([-0.25, -0.75, -0.5], [0, 0], 1.0)
    assert best.options == {"time_limit": 7.0, "mip_rel_gap": 0.125}


def test_a_query_that_cannot_run_at_all_is_not_asked_to(monkeypatch):
    problem = Problem.of([[0.25], [0.5]], [[[1.0]], [[6.0]]], [5.0])
    found, (asked,) = solved(monkeypatch, answer(1, bound=0.25), problem=problem)
    assert (asked.low, asked.weight) == ([1, 0], [-0.25])
    assert (found.choices.tolist(), found.bound, found.proven) == ([0, -1], 0.25, True)


def test_a_solver_out_of_time_is_not_a_proof(monkeypatch):
    found, _ = solved(monkeypatch, answer(1, 0, 1, bound=0.9, status=1))
    assert (found.choices.tolist(), found.bound, found.proven) == ([0, 0], 0.9, False)


def test_without_a_better_plan_in_time_the_one_that_was_counted_stands(monkeypatch):
    found, _ = solved(monkeypatch, NONE, answer(0.0, 0.0, 0.9999999), NONE)
    assert (found.choices.tolist(), found.bound, found.proven) == ([-1, 0], 1.0, False)


def test_without_any_plan_in_time_there_is_none(monkeypatch):
    assert solved(monkeypatch, NONE, NONE)[0] is None


def test_an_answer_over_what_there_is_is_asked_for_again_with_less_room(monkeypatch):
    over, fits = answer(0, 1, 1, bound=1.25), answer(1, 0, 1, bound=0.75)
    found, (first, second) = solved(monkeypatch, over, fits, problem=TIGHT)
    assert (found.choices.tolist(), found.bound, found.proven) == ([0, 0], 1.25, True)
    assert (first.room, second.room) == (1.0, 1.0 - 4e-6)
    # A second program that was not solved as far proves less.
    less = answer(1, 0, 1, bound=1.5)
    assert solved(monkeypatch, over, less, problem=TIGHT)[0].bound == 1.5
    # Where fewer run, what was proven of more says nothing of them.
    fewer = answer(0, 1, 0, bound=0.75)
    assert solved(monkeypatch, over, fewer, problem=TIGHT)[0].bound == 0.75
    assert solved(monkeypatch, over, over, problem=TIGHT)[0] is None
    assert solved(monkeypatch, over, NONE, NONE, problem=TIGHT)[0] is None


@pytest.mark.parametrize("over", [1e-7, 4e-7])
def test_queries_that_only_fit_by_a_rounding_do_not_run_together(over):
    """HiGHS lets both run, as it tolerates a millionth; a plan may not, so one of them runs."""
    case = [[0.5], [0.75]], [[[1.0 + over]]] * 2, [2.0]
    assert optimal(*case).tolist() == [-1, 0]
    found = solve(Problem.of(*case), 60.0, 0.0)
    assert found.proven
    assert found.bound == pytest.approx(0.75)


def test_a_function_without_a_plan_says_for_how_long_it_looked(monkeypatch):
    monkeypatch.setattr(program, "milp", Solver(NONE, NONE))
    with pytest.raises(InputError, match="no plan found in 3 s"):
        optimal([[0.5]], [[[1.0]]], [1.0], seconds=3.0)


def test_without_configurations_nothing_is_solved(monkeypatch):
    monkeypatch.setattr(program, "milp", Solver())
    found = solve(Problem.of([[0.5]] * 2, [[[1.0]]] * 2, [0.5]), 1.0, 0.0)
    assert (found.choices.tolist(), found.bound, found.proven) == ([-1, -1], 0.0, True)
