"""A plan compared with what HiGHS proves: how many queries can run, and the largest sum of accuracies.

The linear relaxation often suffices. The binary program follows only where it does not: where more queries might run,
or where the sum is too far below the relaxation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from windlass.model.values import number
from windlass.plan.lib.compact import CompactOptions
from windlass.plan.lib.problem import ROOM, Problem
from windlass.plan.lib.program import Matrices, solve

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PlanProof:
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


def prove(
    accuracy: Sequence[object],
    demand: Sequence[object],
    capacity: object,
    choices: _Ints,
    seconds: float,
    enough: float = 1.0,
) -> PlanProof:
    """Return what is proven about a plan's distance from the optimum.

    Parameters
    ----------
    accuracy, demand, capacity
        See :mod:`windlass.plan.functions`.
    choices
        (n,) a plan that fits.
    seconds
        Time limit of each call of the solver, s; there are at most six.
    enough
        The binary program is not solved for a sum that is at least this part of the relaxation's bound.

    Raises
    ------
    InputError
        Shapes differ, or a value is negative or not a number.

    Source: thesis, equations 5.1 to 5.4, and their relaxation.

    Examples
    --------
    >>> found = prove([[0.2, 0.9]] * 2, [[[1.0], [3.0]]] * 2, [5.0], np.array([0, 1]), seconds=5.0)
    >>> round(found.bound, 3), found.most
    (1.1, 2)
    """
    problem = Problem.of(accuracy, demand, capacity)
    count, total = problem.score(choices)
    matrices = Matrices.of(problem.only(_undominated(accuracy, demand)))
    can = int((matrices.choice.sum(axis=1) > 0).sum())
    if not can:
        return PlanProof(0.0, 0, 0)
    values = problem.accuracy[_undominated(accuracy, demand)][matrices.rows]
    most = can
    if count < can:
        most = min(can, int(np.floor(_relaxation(matrices, np.ones(len(values)), 0) + 1e-6)))
    bound = _relaxation(matrices, values, count)
    if most == count and total >= enough * bound:
        return PlanProof(bound, most, count)
    best = solve(problem, number("seconds", seconds, 0.0, open_below=True), 1e-4)
    if best is None:
        return PlanProof(bound, most, count)
    theirs = problem.score(best.choices)[0]
    if theirs > count:
        return PlanProof(best.bound, theirs if best.proven else most, theirs)
    # The solver's bound holds for plans with as many running queries as its own, which are no more than these.
    return PlanProof(min(bound, best.bound), count if best.proven else most, count)


def _undominated(accuracy: Sequence[object], demand: Sequence[object]) -> NDArray[np.bool_]:
    """Return (K,) the configurations that no other of their query dominates."""
    found = []
    for values, needs in zip(accuracy, demand, strict=True):
        own = np.asarray(values, dtype=np.float64)
        keep = np.zeros(len(own), dtype=bool)
        if len(own):
            keep[CompactOptions.of(own, np.asarray(needs, dtype=np.float64)).undominated.number] = True
        found.append(keep)
    return np.concatenate([*found, np.zeros(0, dtype=bool)])


def _relaxation(matrices: Matrices, value: _Floats, least: int) -> float:
    """Return the largest value of the relaxation in which the parts of queries sum to ``least`` or more."""
    resources, queries = matrices.demand.shape[0], matrices.choice.shape[0]
    ones = csr_array(np.ones((1, len(value))))
    found = linprog(
        -value,
        A_ub=vstack([matrices.demand, matrices.choice, -ones]).tocsr(),
        b_ub=np.concatenate((np.full(resources, ROOM), np.ones(queries), [-float(least)])),
        bounds=(0, 1),
        method="highs",
    )
    return float(-found.fun)
