"""The binary program: calls of the solver, results from its answers, and answers that slightly exceed capacity."""

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
    """A solver that returns given answers in turn, and records its calls."""

    def __init__(self, *answers):
        self.answers, self.calls = list(answers), []

    def __call__(self, weight, *, integrality, bounds, constraints, options):
        demand, choice, count = constraints
        self.calls.append(
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
    return found, solver.calls


def test_all_queries_run_if_they_fit(monkeypatch):
    found, (calls,) = solved(monkeypatch, answer(1, 0, 1, bound=0.875))
    assert found.choices.tolist() == [0, 0]
    assert (found.bound, found.proven) == (0.875, True)
    assert calls.options == {"time_limit": 7.0, "mip_rel_gap": 0.125}
    assert (calls.weight, calls.low, calls.least, calls.room) == ([-0.25, -0.75, -0.5], [1, 1], 0.0, 1.0)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (0, 1)])
def test_otherwise_the_most_queries_run_with_the_best_accuracy(first, second, monkeypatch):
    answers = NONE, answer(1, 0, 0, status=first), answer(0, 1, 0, bound=0.75, status=second)
    found, (_, count, best) = solved(monkeypatch, *answers)
    assert found.choices.tolist() == [1, -1]
    assert found.bound == 0.75
    assert found.proven == (first == second == 0)
    assert (count.weight, count.low, count.least) == ([-1.0, -1.0, -1.0], [0, 0], 0.0)
    assert count.options == {"time_limit": 7.0, "mip_rel_gap": 0.0}
    assert (best.weight, best.low, best.least) == ([-0.25, -0.75, -0.5], [0, 0], 1.0)
    assert best.options == {"time_limit": 7.0, "mip_rel_gap": 0.125}


def test_a_query_that_never_fits_is_not_required_to_run(monkeypatch):
    problem = Problem.of([[0.25], [0.5]], [[[1.0]], [[6.0]]], [5.0])
    found, (calls,) = solved(monkeypatch, answer(1, bound=0.25), problem=problem)
    assert (calls.low, calls.weight) == ([1, 0], [-0.25])
    assert (found.choices.tolist(), found.bound, found.proven) == ([0, -1], 0.25, True)


def test_a_solver_out_of_time_is_not_a_proof(monkeypatch):
    found, _ = solved(monkeypatch, answer(1, 0, 1, bound=0.9, status=1))
    assert (found.choices.tolist(), found.bound, found.proven) == ([0, 0], 0.9, False)


def test_without_a_better_plan_in_time_the_counting_plan_is_kept(monkeypatch):
    found, _ = solved(monkeypatch, NONE, answer(0.0, 0.0, 0.9999999), NONE)
    assert (found.choices.tolist(), found.bound, found.proven) == ([-1, 0], 1.0, False)


def test_without_any_plan_in_time_the_result_is_none(monkeypatch):
    assert solved(monkeypatch, NONE, NONE)[0] is None


def test_an_answer_over_capacity_is_solved_again_with_less_room(monkeypatch):
    over, fits = answer(0, 1, 1, bound=1.25), answer(1, 0, 1, bound=0.75)
    found, (first, second) = solved(monkeypatch, over, fits, problem=TIGHT)
    assert (found.choices.tolist(), found.bound, found.proven) == ([0, 0], 1.25, True)
    assert (first.room, second.room) == (1.0, 1.0 - 4e-6)
    # A second program with a larger gap proves less.
    less = answer(1, 0, 1, bound=1.5)
    assert solved(monkeypatch, over, less, problem=TIGHT)[0].bound == 1.5
    # If fewer queries run, the bound for more queries does not apply.
    fewer = answer(0, 1, 0, bound=0.75)
    assert solved(monkeypatch, over, fewer, problem=TIGHT)[0].bound == 0.75
    assert solved(monkeypatch, over, over, problem=TIGHT)[0] is None
    assert solved(monkeypatch, over, NONE, NONE, problem=TIGHT)[0] is None


@pytest.mark.parametrize("over", [1e-7, 4e-7])
def test_queries_that_exceed_capacity_by_a_rounding_error_do_not_run_together(over):
    """HiGHS lets both run, as it tolerates a millionth; a plan may not, so one of them runs."""
    case = [[0.5], [0.75]], [[[1.0 + over]]] * 2, [2.0]
    assert optimal(*case).tolist() == [-1, 0]
    found = solve(Problem.of(*case), 60.0, 0.0)
    assert found.proven
    assert found.bound == pytest.approx(0.75)


def test_the_error_without_a_plan_states_the_time_limit(monkeypatch):
    monkeypatch.setattr(program, "milp", Solver(NONE, NONE))
    with pytest.raises(InputError, match="no plan found in 3 s"):
        optimal([[0.5]], [[[1.0]]], [1.0], seconds=3.0)


def test_without_configurations_the_solver_is_not_called(monkeypatch):
    monkeypatch.setattr(program, "milp", Solver())
    found = solve(Problem.of([[0.5]] * 2, [[[1.0]]] * 2, [0.5]), 1.0, 0.0)
    assert (found.choices.tolist(), found.bound, found.proven) == ([-1, -1], 0.0, True)
