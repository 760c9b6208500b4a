"""The binary program of the thesis, equations 5.1 to 5.4, solved with HiGHS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

from windlass.plan.lib.problem import ROOM, Problem

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: HiGHS may exceed rows by up to 1e-6; if a result does not fit, it is solved again with this much less
#: capacity.
AWAY = 4e-6


@dataclass(frozen=True, slots=True, eq=False)
class Matrices:
    """A problem as the rows of a linear program.

    Parameters
    ----------
    rows
        (m,) the configurations that can run alone, one for each of the first m variables.
    demand
        (L, m + p) demand of each variable, as shares of the capacity. The last p variables are pieces of work
        that queries share.
    choice
        (n, m + p) the query of each configuration.
    shared
        (r, m + p) rows that are at most 0: a piece runs if a configuration needs it; None without pieces.
    """

    rows: _Ints
    demand: csr_array
    choice: csr_array
    shared: csr_array | None = None

    @staticmethod
    def of(problem: Problem) -> Matrices:
        """Build the matrices, without configurations that exceed a capacity alone."""
        rows = np.flatnonzero(problem.cost <= ROOM)
        own = problem.owners()[rows]
        needs, columns = problem.demand[rows], problem.columns[own]
        some = (needs > 0) & (columns < problem.resources)
        at = np.broadcast_to(np.arange(len(rows))[:, None], needs.shape)
        demand = csr_array((needs[some], (columns[some], at[some])), shape=(problem.resources, len(rows)))
        ones = np.ones(len(rows))
        choice = csr_array((ones, (own, np.arange(len(rows)))), shape=(len(problem), len(rows)))
        return Matrices(rows, demand, choice)

    def stacked(self) -> csr_array:
        """Return (L + n, m) the demands above the queries."""
        return csr_array(vstack([self.demand, self.choice]))

    def chosen(self, problem: Problem, x: _Floats) -> _Ints:
        """Return the choices (n,) of a solution."""
        choices = np.full(len(problem), -1)
        rows = self.rows[x[: len(self.rows)] > 0.5]
        own = problem.owners()[rows]
        choices[own] = rows - problem.start[own]
        return choices


@dataclass(frozen=True, slots=True, eq=False)
class ProgramSolution:
    """The solution of the binary program.

    Parameters
    ----------
    choices
        (n,) configuration of each query.
    bound
        Upper bound on the sum of accuracies of plans with the same number of running queries.
    proven
        Whether the solver finished in its time: no plan runs more queries, or is better by more than the gap.
    """

    choices: _Ints
    bound: float
    proven: bool


def solve(problem: Problem, seconds: float, gap: float) -> ProgramSolution | None:
    """Return the best choices: first the most running queries, then the largest sum of accuracies.

    Parameters
    ----------
    problem
        A problem of any size.
    seconds
        Time limit of each call of the solver. There are at most three calls, or six if a result exceeds a
        capacity by a rounding error.
    gap
        Allowed relative difference between the sum of accuracies and its bound.

    Returns
    -------
    The solution, or None if the solver found nothing in its time.
    """
    return solve_program(problem, Matrices.of(problem), problem.fits, seconds, gap)


def solve_program(
    problem: Problem,
    matrices: Matrices,
    fits: Callable[[_Ints], bool],
    seconds: float,
    gap: float,
    nodes: int | None = None,
) -> ProgramSolution | None:
    """Return the best choices like :func:`solve`, for the rows of a program.

    Parameters
    ----------
    problem, seconds, gap
        As of :func:`solve`.
    matrices
        The rows of the program.
    fits
        Whether choices (n,) fit together.
    nodes
        See :func:`branch_and_bound`.
    """
    if not len(matrices.rows):
        return ProgramSolution(np.full(len(problem), -1), 0.0, True)
    found = _within(problem, matrices, seconds, gap, 0.0, nodes)
    if found is None or fits(found.choices):
        return found
    again = _within(problem, matrices, seconds, gap, AWAY, nodes)
    if again is None or not fits(again.choices):
        return None
    # The second program has slightly less capacity: with the same queries running, the first one's bound
    # still holds.
    same = np.array_equal(found.choices >= 0, again.choices >= 0)
    return replace(again, bound=max(found.bound, again.bound)) if same else again


def _within(
    problem: Problem, matrices: Matrices, seconds: float, gap: float, away: float, nodes: int | None
) -> ProgramSolution | None:
    """Return the solution of HiGHS with a reduced capacity; it may exceed that by a rounding error."""
    most = np.minimum(1.0, matrices.choice.sum(axis=1))
    weight = -problem.accuracy[matrices.rows]
    found = branch_and_bound(weight, matrices, most, most, 0.0, seconds, gap, away, nodes)
    proven = True
    if found.x is None:
        count = branch_and_bound(
            -np.ones(len(weight)), matrices, 0.0 * most, most, 0.0, seconds, 0.0, away, nodes
        )
        if count.x is None:
            return None
        # Run at least as many queries as found, whether or not that is proven to be the maximum.
        least, proven = np.round(count.x[: len(weight)]).sum(), bool(count.status == 0)
        found = branch_and_bound(weight, matrices, 0.0 * most, most, least, seconds, gap, away, nodes)
        if found.x is None:
            return ProgramSolution(matrices.chosen(problem, count.x), float(least), False)
    choices = matrices.chosen(problem, found.x)
    return ProgramSolution(choices, float(-found.mip_dual_bound), proven and bool(found.status == 0))


def branch_and_bound(
    weight: _Floats,
    matrices: Matrices,
    low: _Floats,
    high: _Floats,
    least: float,
    seconds: float,
    gap: float,
    away: float,
    nodes: int | None = None,
) -> Any:
    """Minimise weight, with each query between ``low`` and ``high`` times, and at least ``least`` queries in total.

    Parameters
    ----------
    weight
        (m,) weight of each configuration.
    matrices
        The rows of the program.
    low, high
        (n,) bounds on the sum of each query's variables.
    least
        Minimum of the sum of all configurations.
    seconds
        Time limit.
    gap
        Allowed relative difference between the sum of weights and its bound.
    away
        Share of each capacity that stays free.
    nodes
        Maximum number of nodes; None for no limit.
    """
    pieces = np.zeros(matrices.demand.shape[1] - len(weight))
    each = np.append(np.ones(len(weight)), pieces)
    rows = [
        LinearConstraint(matrices.demand, -np.inf, 1.0 - away),
        LinearConstraint(matrices.choice, low, high),
        LinearConstraint(csr_array(each[None, :]), least, np.inf),
    ]
    if matrices.shared is not None:
        rows.append(LinearConstraint(matrices.shared, -np.inf, 0.0))
    options: dict[str, float] = {"time_limit": seconds, "mip_rel_gap": gap}
    if nodes is not None:
        options["node_limit"] = nodes
    # Pieces need no integrality: with whole configurations, each is 0 or the largest that runs.
    return milp(
        np.append(weight, pieces), integrality=each, bounds=Bounds(0, 1), constraints=rows, options=options
    )
