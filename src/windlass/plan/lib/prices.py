"""What a part of each resource is worth when everybody shares it best: prices of the linear relaxation.

The relaxation lets a query run several configurations in parts. Few of all configurations are ever run so: the linear
program starts with some, and at the prices that it finds, each query adds the one that would do best. Once none would
do better, the program with all configurations has no better answer (column generation, Dantzig and Wolfe). Even before,
prices bound what any plan can reach: the sum of what each query does best at them, and of what all resources are worth.
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

#: What a query that does not run lacks, more than any accuracy.
_ABSENT = -4.0
#: The program is as good as solved once its bound is so much above its answer, as a part of the number of queries.
_CLOSE = 1e-4
_ROUNDS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """The relaxation's answer.

    Parameters
    ----------
    price
        (L + 1,) accuracy that all of a resource is worth; the last is of none.
    worth
        (K,) accuracy of each configuration less what it takes at these prices; −inf for what cannot run.
    share
        (K,) how much of each configuration is run, from 0 to 1.
    bound
        No plan in which all queries run that can has a greater sum of accuracies.
    """

    price: _Floats
    worth: _Floats
    share: _Floats
    bound: float


def relaxed(problem: Problem, starts: list[_Ints]) -> Prices:
    """Prices and parts of the relaxation.

    Parameters
    ----------
    problem
        Of any size.
    starts
        Choices whose configurations it begins with.
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
        above = float(np.maximum(tops, _ABSENT)[has].sum() + price.sum())
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
    asked = np.where(can[:, None], problem.demand, 0.0)
    taken = np.einsum("kw,kw->k", asked, price[problem.columns[owners]])
    return np.where(can, problem.accuracy - taken, -np.inf)


def _tops(problem: Problem, worth: _Floats, has: NDArray[np.bool_]) -> _Floats:
    """(n,) the worth of each query's best."""
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
    """Parts of some configurations, prices and the value; queries may be absent in part, at a loss."""
    asked, columns = problem.demand[rows], problem.columns[own]
    some = (asked > 0) & (columns < problem.resources)
    at = np.broadcast_to(np.arange(len(rows))[:, None], asked.shape)
    n, shape = len(problem), (problem.resources, len(rows))
    demand = csr_array((asked[some], (columns[some], at[some])), shape=shape)
    choice = csr_array((np.ones(len(rows)), (own, np.arange(len(rows)))), shape=(n, len(rows)))
    weight = np.concatenate((-problem.accuracy[rows], np.full(n, -_ABSENT)))
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
