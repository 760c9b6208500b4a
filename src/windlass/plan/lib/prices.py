"""Prices of resources from the linear relaxation of the planning problem.

The relaxation lets a query run fractions of several configurations. Few of all configurations occur in its
solution, so the linear program starts with some of them, and each query adds the one that is best at the
current prices. Once none is better, the program with all configurations has the same optimum (column
generation, Dantzig and Wolfe). Even earlier, prices give a bound on any plan: the sum of the best values of
all queries at these prices, plus the price of all resources.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack

from windlass.plan.lib.problem import ROOM, Problem

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Value of a query that does not run, lower than any accuracy.
ABSENT = -4.0
#: The program counts as solved once its bound exceeds its value by at most this, for each query.
_CLOSE = 1e-4
_ROUNDS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """The solution of the relaxation.

    Parameters
    ----------
    price
        (L + 1,) price of the whole of each resource, in accuracy; the last entry is a placeholder for no
        resource.
    worth
        (K,) accuracy of each configuration less the price of its demand; −inf if it cannot run.
    share
        (K,) fraction of each configuration that runs, 0 to 1.
    bound
        Upper bound on the sum of accuracies of plans that run every query that can run.
    """

    price: _Floats
    worth: _Floats
    share: _Floats
    bound: float


def relax(problem: Problem, starts: list[_Ints]) -> Prices:
    """Solve the relaxation.

    Parameters
    ----------
    problem
        A problem of any size.
    starts
        Choices whose configurations form the initial program.
    """
    owners = problem.owners()
    can = problem.cost <= ROOM
    price, share = np.zeros(problem.resources + 1), np.zeros(len(owners))
    worth = _worth(problem, owners, can, price)
    has = np.array(
        [can[a:b].any() for a, b in zip(problem.start[:-1], problem.start[1:], strict=True)], dtype=bool
    )
    inside = np.zeros(len(owners), dtype=bool)
    for choices in starts:
        runs = choices >= 0
        inside[(problem.start[:-1] + choices)[runs]] = True
    _mark_best(problem, worth, has, inside)
    best, bound = (price, worth), np.inf
    for _ in range(_ROUNDS):
        rows = np.flatnonzero(inside)
        x, price, value = _master(problem, rows, owners[rows], has)
        worth = _worth(problem, owners, can, price)
        tops = _tops(problem, worth, has)
        above = float(np.maximum(tops, ABSENT)[has].sum() + price.sum())
        share[:] = 0.0
        share[rows] = x
        if above < bound:
            best, bound = (price, worth), above
        before = int(inside.sum())
        _mark_best(problem, worth, has, inside)
        if bound - value <= _CLOSE * len(problem) or int(inside.sum()) == before:
            break
    return Prices(*best, share, bound)


def _worth(problem: Problem, owners: _Ints, can: NDArray[np.bool_], price: _Floats) -> _Floats:
    needs = np.where(can[:, None], problem.demand, 0.0)
    paid = np.einsum("kw,kw->k", needs, price[problem.columns[owners]])
    return np.where(can, problem.accuracy - paid, -np.inf)


def _tops(problem: Problem, worth: _Floats, has: NDArray[np.bool_]) -> _Floats:
    """Return (n,) the worth of each query's best configuration."""
    found = np.full(len(problem), -np.inf)
    if has.any():
        found[has] = np.maximum.reduceat(worth, problem.start[:-1][has])
    return found


def _mark_best(problem: Problem, worth: _Floats, has: NDArray[np.bool_], inside: NDArray[np.bool_]) -> None:
    for i in np.flatnonzero(has).tolist():
        a, b = int(problem.start[i]), int(problem.start[i + 1])
        inside[a + int(worth[a:b].argmax())] = True


def _master(
    problem: Problem, rows: _Ints, own: _Ints, has: NDArray[np.bool_]
) -> tuple[_Floats, _Floats, float]:
    """Solve the program on some configurations: fractions, prices, value. Queries may run in part, at a loss."""
    needs, columns = problem.demand[rows], problem.columns[own]
    some = (needs > 0) & (columns < problem.resources)
    at = np.broadcast_to(np.arange(len(rows))[:, None], needs.shape)
    n, shape = len(problem), (problem.resources, len(rows))
    demand = csr_array((needs[some], (columns[some], at[some])), shape=shape)
    choice = csr_array((np.ones(len(rows)), (own, np.arange(len(rows)))), shape=(n, len(rows)))
    weight = np.concatenate((-problem.accuracy[rows], np.full(n, -ABSENT)))
    found = linprog(
        weight,
        A_ub=hstack([demand, csr_array((problem.resources, n))]).tocsr(),
        b_ub=np.ones(problem.resources),
        A_eq=hstack([choice, eye_array(n)]).tocsr(),
        b_eq=has.astype(np.float64),
        bounds=(0, None),
        method="highs",
    )
    price = np.append(np.maximum(0.0, -found.ineqlin.marginals), 0.0)
    return found.x[: len(rows)], price, -float(found.fun)
