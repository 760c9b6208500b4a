"""The binary program of the thesis, equations 5.1 to 5.4, as HiGHS takes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from windlass.plan.lib.problem import ROOM, Problem

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: HiGHS lets rows be exceeded by up to a millionth: where an answer does not fit, it has to keep this much away.
_AWAY = 4e-6


@dataclass(frozen=True, slots=True, eq=False)
class Matrices:
    """A problem as the rows of a linear program.

    Parameters
    ----------
    rows
        (m,) the configurations that can run at all, one a variable.
    demand
        (L, m) what each asks for, as parts of the capacity.
    choice
        (n, m) whose each is.
    """

    rows: _Ints
    demand: csr_array
    choice: csr_array

    @staticmethod
    def of(problem: Problem) -> Matrices:
        """Without what needs more than there is."""
        rows = np.flatnonzero(problem.cost <= ROOM)
        own = problem.owners()[rows]
        asked, columns = problem.demand[rows], problem.columns[own]
        some = (asked > 0) & (columns < problem.resources)
        at = np.broadcast_to(np.arange(len(rows))[:, None], asked.shape)
        demand = csr_array((asked[some], (columns[some], at[some])), shape=(problem.resources, len(rows)))
        ones = np.ones(len(rows))
        choice = csr_array((ones, (own, np.arange(len(rows)))), shape=(len(problem), len(rows)))
        return Matrices(rows, demand, choice)

    def chosen(self, problem: Problem, x: _Floats) -> _Ints:
        """(n,) what a solution chooses."""
        choices = np.full(len(problem), -1)
        rows = self.rows[x > 0.5]
        own = problem.owners()[rows]
        choices[own] = rows - problem.start[own]
        return choices


@dataclass(frozen=True, slots=True, eq=False)
class ProgramSolution:
    """What the binary program answers.

    Parameters
    ----------
    choices
        (n,).
    bound
        No choices have a greater sum of accuracies, with as many queries that run.
    proven
        Whether the solver was done within its time: as many queries run as can, and no plan is better by more than its
        gap.
    """

    choices: _Ints
    bound: float
    proven: bool


def solve(problem: Problem, seconds: float, gap: float) -> ProgramSolution | None:
    """The best choices: first as many queries as can run, then the greatest sum of accuracies.

    Parameters
    ----------
    problem
        Of any size.
    seconds
        How long each call of the solver may take; three at most, and as many again where an answer exceeds what
        there is by a rounding.
    gap
        By what part of the sum the answer may be below the bound.

    Returns
    -------
    None where the solver found nothing in its time.
    """
    matrices = Matrices.of(problem)
    if not len(matrices.rows):
        return ProgramSolution(np.full(len(problem), -1), 0.0, True)
    found = _within(problem, matrices, seconds, gap, 0.0)
    if found is None or problem.fits(found.choices):
        return found
    again = _within(problem, matrices, seconds, gap, _AWAY)
    if again is None or not problem.fits(again.choices):
        return None
    # A little room is not used now: where as many run, what the first program proved still holds.
    same = np.array_equal(found.choices >= 0, again.choices >= 0)
    return replace(again, bound=max(found.bound, again.bound)) if same else again


def _within(
    problem: Problem, matrices: Matrices, seconds: float, gap: float, away: float
) -> ProgramSolution | None:
    """The best choices as HiGHS has them, so far away from all that there is; they may exceed that by a rounding."""
    most = np.minimum(1.0, matrices.choice.sum(axis=1))
    weight = -problem.accuracy[matrices.rows]
    found = _milp(weight, matrices, most, most, 0.0, seconds, gap, away)
    proven = True
    if found.x is None:
        count = _milp(-np.ones(len(weight)), matrices, 0.0 * most, most, 0.0, seconds, 0.0, away)
        if count.x is None:
            return None
        # As many as were found, whether or not that is proven to be the most.
        least, proven = np.round(count.x).sum(), bool(count.status == 0)
        found = _milp(weight, matrices, 0.0 * most, most, least, seconds, gap, away)
        if found.x is None:
            return ProgramSolution(matrices.chosen(problem, count.x), float(least), False)
    choices = matrices.chosen(problem, found.x)
    return ProgramSolution(choices, float(-found.mip_dual_bound), proven and bool(found.status == 0))


def _milp(
    weight: _Floats,
    matrices: Matrices,
    low: _Floats,
    high: _Floats,
    least: float,
    seconds: float,
    gap: float,
    away: float,
) -> Any:
    """Least weight, each query between ``low`` and ``high`` times, and ``least`` of them in all."""
    rows = [
        LinearConstraint(matrices.demand, -np.inf, 1.0 - away),
        LinearConstraint(matrices.choice, low, high),
        LinearConstraint(csr_array(np.ones((1, len(weight)))), least, np.inf),
    ]
    options = {"time_limit": seconds, "mip_rel_gap": gap}
    return milp(
        weight, integrality=np.ones(len(weight)), bounds=Bounds(0, 1), constraints=rows, options=options
    )
