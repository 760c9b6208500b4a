"""Integer programs on few configurations of each query, which HiGHS solves in a limited number of nodes.

Switches in pairs miss plans in which three or more queries change. On few configurations a query, the binary program is
small enough for branch and bound. Two programs are solved: the first one only if some queries do not run.

1. The most queries that can run. Accuracy plays no role, so each query has the configurations that no other of
   its own undercuts in all demands.
2. The largest sum of accuracies with at least as many running queries.

The number of nodes is limited, so that the same problem has the same plan on any machine; the time limit is for
large problems.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from windlass.plan.lib.problem import ROOM, Problem
from windlass.plan.lib.program import AWAY, Matrices, branch_and_bound

_Ints = NDArray[np.int64]
_Bools = NDArray[np.bool_]

#: Maximum number of nodes of one program.
NODES = 400
#: The second program stops at this relative difference from its bound.
GAP = 5e-4


def more_running(problem: Problem, choices: _Ints, seconds: float) -> _Ints:
    """Return choices (n,) that run as many queries as possible; the given ones if the solver finds no more.

    Parameters
    ----------
    problem
        A problem of any size.
    choices
        A plan that fits.
    seconds
        Time limit of the solver.
    """
    running = int((choices >= 0).sum())
    can = np.add.reduceat(np.append(problem.cost <= ROOM, False), problem.start[:-1]) > 0
    if running >= int((can & (np.diff(problem.start) > 0)).sum()):
        return choices
    keep = _lightest(problem)
    small = problem.only(keep)
    matrices = Matrices.of(small)
    most = np.minimum(1.0, matrices.choice.sum(axis=1))
    weight = -np.ones(len(matrices.rows))
    relaxed = linprog(
        weight,
        A_ub=matrices.stacked(),
        b_ub=np.concatenate([np.full(problem.resources, ROOM), most]),
        bounds=(0, 1),
        method="highs",
    )
    if relaxed.x is not None and np.floor(-relaxed.fun + 1e-6) <= running:
        return choices
    found = _fitting(small, matrices, weight, 0.0 * most, most, running + 1.0, seconds, 0.0)
    return choices if found is None else problem.whole(keep, found)


def more_accurate(problem: Problem, keep: _Bools, choices: _Ints, seconds: float) -> _Ints:
    """Return choices (n,) among the marked configurations with a larger sum of accuracies, or the given ones.

    Parameters
    ----------
    problem
        A problem of any size.
    keep
        (K,) the configurations to choose among.
    choices
        A plan that fits, of marked configurations. No fewer queries run than in it.
    seconds
        Time limit of the solver.
    """
    small = problem.only(keep)
    matrices = Matrices.of(small)
    most = np.minimum(1.0, matrices.choice.sum(axis=1))
    running = float((choices >= 0).sum())
    least = most if running >= most.sum() else 0.0 * most
    weight = -small.accuracy[matrices.rows]
    found = _fitting(small, matrices, weight, least, most, running, seconds, GAP)
    if found is None:
        return choices
    return max((choices, problem.whole(keep, found)), key=problem.score)


def _fitting(
    small: Problem,
    matrices: Matrices,
    weight: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    least: float,
    seconds: float,
    gap: float,
) -> _Ints | None:
    """Return the solver's choices; with slightly less capacity if they exceed it by a rounding error."""
    for away in (0.0, AWAY):
        found = branch_and_bound(weight, matrices, low, high, least, seconds, gap, away, NODES)
        if found.x is None:
            return None
        choices = matrices.chosen(small, found.x)
        if small.fits(choices):
            return choices
    return None


def _lightest(problem: Problem) -> _Bools:
    """Return (K,) the configurations that no other of their query undercuts in all demands."""
    keep = np.zeros(len(problem.accuracy), dtype=bool)
    order = np.lexsort((problem.demand.sum(axis=1), problem.owners()))
    for a, b in zip(problem.start[:-1].tolist(), problem.start[1:].tolist(), strict=True):
        light: list[int] = []
        for row in order[a:b].tolist():
            if problem.cost[row] <= ROOM and not (
                light and (problem.demand[light] <= problem.demand[row]).all(axis=1).any()
            ):
                light.append(row)
        keep[light] = True
    return keep
