"""What no plan can be better than: the linear relaxation of the program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

from windlass.plan.lib.problem import ROOM, Problem


def mean_bound(accuracy: Sequence[object], demand: Sequence[object], capacity: object) -> float:
    """At most so high is the mean accuracy of any plan in which queries are not merged; a query that cannot run has 0.

    A query may run in parts of several configurations, or in part not at all. Configurations that alone ask for more
    than there is are left out, so the bound is a little below that of the program as printed.

    Parameters
    ----------
    accuracy, demand, capacity
        As all functions of :mod:`windlass.plan.functions` take them.

    Raises
    ------
    InputError
        Shapes do not match, or a value is negative or not a number.

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


def _relaxed(problem: Problem, rows: NDArray[np.int64], query: NDArray[np.int64]) -> float:
    if not len(rows):
        return 0.0
    n, columns = len(problem), problem.columns[query]
    asked = problem.demand[rows]
    at, of = np.nonzero((asked > 0) & (columns < problem.resources))
    limits = coo_array(
        (
            np.concatenate([np.ones(len(rows)), asked[at, of]]),
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
    """Those of a query's configurations that no other one equals in accuracy for at most as much of everything."""
    order = rows[np.lexsort((problem.cost[rows], -problem.accuracy[rows]))]
    asked = problem.demand[order]
    kept: list[int] = []
    for at in range(len(order)):
        # Those before it are as accurate or more.
        if not (asked[kept] <= asked[at]).all(axis=1).any():
            kept.append(at)
    return order[kept]
