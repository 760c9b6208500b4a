"""Fair shares of resources: each query chooses within its own, whatever the others leave."""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.plan.lib.greedy import fits_now
from windlass.plan.lib.problem import ROOM, Problem


def shares(problem: Problem, among: str = "users") -> NDArray[np.float64]:
    """Return (L + 1,) the share of each resource that one query may use; the last entry is a placeholder.

    Parameters
    ----------
    problem
        The queries and resources.
    among
        ``users``: a resource is divided among the queries with a configuration that uses it. ``queries``: among
        all queries, as in the thesis.

    Examples
    --------
    >>> problem = Problem.of([[0.5]] * 2, [[[1.0, 0.0]], [[1.0, 1.0]]], [4.0, 1.0])
    >>> shares(problem).tolist(), shares(problem, "queries").tolist()
    ([0.5, 1.0, 1.0], [0.5, 0.5, 1.0])
    """
    count = np.full(problem.resources + 1, max(1, len(problem)))
    if among == "users":
        # A query's columns are the resources that any of its configurations uses.
        count = np.maximum(1, np.bincount(problem.columns.ravel(), minlength=problem.resources + 1))
    count[-1] = 1
    return np.asarray(1.0 / count)


def choose(start, accuracy, columns, demand, cost, limit, choices):
    """Fill each query's most accurate configuration within the (L + 1,) limits; ties by cost."""
    for i in range(len(choices)):
        best = -1
        for row in range(start[i], start[i + 1]):
            if best >= 0 and (
                accuracy[row] < accuracy[best]
                or (accuracy[row] == accuracy[best] and cost[row] >= cost[best])
            ):
                continue
            if fits_now(demand, row, columns, i, limit, -1):
                best = row
        if best >= 0:
            choices[i] = best - start[i]


FAIR = Kernel(
    choose,
    types.void(
        types.int64[::1],
        types.float64[::1],
        types.int64[:, ::1],
        types.float64[:, ::1],
        types.float64[::1],
        types.float64[::1],
        types.int64[::1],
    ),
    allocates=False,
)


def fair_choices(problem: Problem, among: str = "users") -> NDArray[np.int64]:
    """Return the most accurate configuration within a query's shares (n,); ties by cost; −1 if none fits."""
    choices = np.full(len(problem), -1)
    limit = ROOM * shares(problem, among)
    FAIR.ready()(
        problem.start, problem.accuracy, problem.columns, problem.demand, problem.cost, limit, choices
    )
    return choices
