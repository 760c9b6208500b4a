"""An upper bound on the accuracy of any plan: the linear relaxation of the program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

from windlass.plan.lib.problem import ROOM, Problem
from windlass.plan.lib.refine_shared import relax_shared
from windlass.plan.lib.shared_program import shared_matrices
from windlass.plan.view import PlanView


def mean_bound(accuracy: Sequence[object], demand: Sequence[object], capacity: object) -> float:
    """Return an upper bound on the mean accuracy of any plan without merging; a query that cannot run counts as 0.

    In the relaxation a query may run fractions of several configurations, or less than one in total.
    Configurations that alone exceed a capacity are left out, so the bound is slightly lower than that of the
    printed program.

    Parameters
    ----------
    accuracy, demand, capacity
        See :mod:`windlass.plan.functions`.

    Raises
    ------
    InputError
        Shapes differ, or a value is negative or not a number.

    Source: thesis, Equations 5.1 to 5.4, with x between 0 and 1.

    Examples
    --------
    >>> round(mean_bound([[0.2, 0.9]] * 2, [[[1.0], [3.0]]] * 2, [5.0]), 3)
    0.75
    """
    problem = Problem.of(accuracy, demand, capacity)
    if not len(problem):
        return 0.0
    rows = np.flatnonzero(problem.cost <= ROOM)
    query = np.repeat(np.arange(len(problem)), np.diff(problem.start))
    kept = np.concatenate(
        [_undominated(problem, own) for own in np.split(rows, np.searchsorted(rows, problem.start[1:-1]))]
    )
    return _relaxed(problem, kept, query[kept]) / len(problem)


def merged_mean_bound(view: PlanView, seconds: float) -> float | None:
    """Return an upper bound on the mean accuracy of plans that run all queries, even if equal work counts once.

    Parameters
    ----------
    view
        The queries.
    seconds
        Time limit of the solver.

    Returns
    -------
    The bound, or None if it was not found in time.

    Examples
    --------
    >>> from windlass.plan.view import QueryOptions
    >>> work = np.array([[[4.0], [1.0]]])
    >>> queries = tuple(
    ...     QueryOptions(i, f"q{i}", np.array([0.9]), work.sum(axis=1), piece=np.array([[7, 8 + i]]), piece_demand=work)
    ...     for i in range(2)
    ... )
    >>> round(merged_mean_bound(PlanView(0.0, ("cores",), np.array([6.0]), queries), 60.0), 3)
    0.9
    """
    problem = Problem.of_view(view)
    if not len(problem):
        return 0.0
    relaxed = relax_shared(problem, shared_matrices(view, problem), seconds)
    return None if relaxed is None else relaxed.bound / len(problem)


def _relaxed(problem: Problem, rows: NDArray[np.int64], query: NDArray[np.int64]) -> float:
    if not len(rows):
        return 0.0
    n, columns = len(problem), problem.columns[query]
    needs = problem.demand[rows]
    at, of = np.nonzero((needs > 0) & (columns < problem.resources))
    limits = coo_array(
        (
            np.concatenate([np.ones(len(rows)), needs[at, of]]),
            (np.concatenate([query, n + columns[at, of]]), np.concatenate([np.arange(len(rows)), at])),
        ),
        shape=(n + problem.resources, len(rows)),
    )
    found = linprog(
        -problem.accuracy[rows],
        A_ub=limits.tocsr(),
        b_ub=np.ones(n + problem.resources),
        bounds=(0, 1),
        method="highs",
    )
    return float(-found.fun)


def _undominated(problem: Problem, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the configurations of a query that no other dominates in accuracy and in every demand."""
    order = rows[np.lexsort((problem.cost[rows], -problem.accuracy[rows]))]
    needs = problem.demand[order]
    kept: list[int] = []
    for at in range(len(order)):
        # Earlier ones are at least as accurate.
        if not (needs[kept] <= needs[at]).all(axis=1).any():
            kept.append(at)
    return order[kept]
