"""A plan compared with what HiGHS proves: how many queries can run, and the largest sum of accuracies.

The linear relaxation often suffices. The binary program follows only where it does not: where more queries might run,
or where the sum is further below the relaxation than :data:`ENOUGH`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from windlass.plan.lib.fair import fair_choices
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.problem import ROOM, Problem
from windlass.plan.lib.program import Matrices, solve
from windlass.plan.lib.refine import refine

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: The binary program is not solved for a sum that is at least this part of the relaxation's bound.
ENOUGH = 0.998


@dataclass(frozen=True, slots=True)
class Proof:
    """What is proven about the plans of a problem.

    Parameters
    ----------
    bound
        Upper bound on the sum of accuracies of plans that run at least as many queries as the given one, or as the
        solver's plan if that runs more.
    most
        Upper bound on the number of running queries.
    found
        Number of running queries in the best known plan.
    """

    bound: float
    most: int
    found: int


def prove(problem: Problem, choices: _Ints, relaxed: float, seconds: float) -> Proof:
    """Return what is proven about a plan's distance from the optimum.

    Parameters
    ----------
    problem
        The problem.
    choices
        (n,) a plan that fits.
    relaxed
        Upper bound on the sum of accuracies of plans in which all queries run that can.
    seconds
        Time limit of each call of the solver, s.
    """
    count, total = problem.score(choices)
    matrices = Matrices.of(problem)
    can = int((matrices.choice.sum(axis=1) > 0).sum())
    bound, most = relaxed, can
    if count < can:
        value = _relaxation(problem, matrices, np.ones(len(matrices.rows)), 0)
        most = min(can, int(np.floor(value + 1e-6)))
        bound = _relaxation(problem, matrices, problem.accuracy[matrices.rows], count)
    if most == count and total >= ENOUGH * bound:
        return Proof(bound, most, count)
    best = solve(problem, seconds, 1e-4)
    if best is None:
        return Proof(bound, most, count)
    theirs = problem.score(best.choices)[0]
    if theirs > count:
        return Proof(best.bound, theirs if best.proven else most, theirs)
    if best.proven:
        most = count
    # The solver's bound holds for plans with as many running queries as its own, which are no more than these.
    return Proof(min(bound, best.bound), most, count)


def _relaxation(problem: Problem, matrices: Matrices, value: _Floats, least: int) -> float:
    """Return the largest value of the relaxation in which the parts of queries sum to ``least`` or more."""
    ones = csr_array(np.ones((1, len(value))))
    found = linprog(
        -value,
        A_ub=vstack([matrices.demand, matrices.choice, -ones]).tocsr(),
        b_ub=np.concatenate((np.full(problem.resources, ROOM), np.ones(len(problem)), [-float(least)])),
        bounds=(0, 1),
        method="highs",
    )
    return float(-found.fun)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Planners on one problem.

    Parameters
    ----------
    parts
        Sum of accuracies over the proven bound, of each planner; planners that run fewer queries are left out.
    fewer
        Queries of ``refined`` fewer than in the solver's plan.
    unknown
        Queries that might run in addition: neither found nor excluded.
    seconds
        CPU seconds of ``refined``.
    """

    parts: dict[str, float]
    fewer: int
    unknown: int
    seconds: float


#: The planner that is judged.
OURS = "refined"


def compare(problem: Problem, seconds: float) -> Comparison:
    """Return the sums of planners over the bound that is proven within the time limit."""
    begun = time.process_time()
    ours, relaxed = refine(problem)
    spent = time.process_time() - begun
    proof = prove(problem, ours, relaxed, seconds)
    count = problem.score(ours)[0]
    plans = {OURS: ours, "cascade": greedy(problem, 2.0), "fair": fair_choices(problem)}
    scores = {name: problem.score(plan) for name, plan in plans.items()}
    parts = {name: total / proof.bound for name, (runs, total) in scores.items() if runs >= count}
    return Comparison(parts, proof.found - count, proof.most - proof.found, spent)
