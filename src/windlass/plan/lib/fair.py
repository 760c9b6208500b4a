"""Fair shares of resources: each query chooses within its own, whatever the others leave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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


def fair_choices(problem: Problem, among: str = "users") -> NDArray[np.int64]:
    """Return the most accurate configuration within a query's shares (n,); ties by cost; −1 if none fits."""
    owner, limit = problem.owners(), ROOM * shares(problem, among)[problem.columns]
    rows = np.flatnonzero((problem.demand <= np.repeat(limit, np.diff(problem.start), axis=0)).all(axis=1))
    order = rows[np.lexsort((problem.cost[rows], -problem.accuracy[rows], owner[rows]))]
    queries, first = np.unique(owner[order], return_index=True)
    choices = np.full(len(problem), -1)
    choices[queries] = order[first] - problem.start[queries]
    return choices
