"""The binary program in which equal work of several queries counts once.

A piece of work that several queries could share has a variable of its own, at least as large as the sum of each query's
configurations that need it. Its demand counts in place of theirs. If profiles of the same work differ, the largest
demand counts, and the piece has a variable for each resource.

The thesis describes merging for its greedy only. The program is the optimum with which that is compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from windlass.plan.lib.compact import shares_of
from windlass.plan.lib.merge import parts, used
from windlass.plan.lib.problem import ROOM, Problem
from windlass.plan.lib.program import Matrices, ProgramSolution, solve_program
from windlass.plan.view import PlanView

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def solve_shared(
    view: PlanView, seconds: float, gap: float, nodes: int | None = None
) -> ProgramSolution | None:
    """Return the best choices if equal work counts once: first the most running queries, then the sum of accuracies.

    Parameters
    ----------
    view
        The queries; those without pieces share nothing.
    seconds, gap
        See :func:`~windlass.plan.lib.program.solve`.
    nodes
        Maximum number of nodes of each call of the solver; None for no limit.

    Returns
    -------
    The solution, or None if the solver found nothing in its time.
    """
    problem = Problem.of_view(view)
    matrices = shared_matrices(view, problem)

    def fits(choices: _Ints) -> bool:
        return bool((used(view, choices, range(len(choices))) <= view.capacity * ROOM).all())

    return solve_program(problem, matrices, fits, seconds, gap, nodes)


@dataclass(slots=True)
class _Entries:
    """Entries of a sparse matrix in the order in which they are found."""

    row: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)

    def add(self, row: int, column: int, value: float) -> None:
        self.row.append(row)
        self.column.append(column)
        self.value.append(value)

    def matrix(self, rows: int, columns: int) -> csr_array:
        return csr_array((self.value, (self.row, self.column)), shape=(rows, columns))


@dataclass(slots=True)
class _Piece:
    """A piece of work: the queries that could need it, and (variable, shares) of each of their configurations."""

    needs: dict[int, list[tuple[int, _Floats]]] = field(default_factory=dict)

    def add(self, query: int, variable: int, shares: _Floats) -> None:
        self.needs.setdefault(query, []).append((variable, shares))

    def all(self) -> Iterator[tuple[int, _Floats]]:
        for each in self.needs.values():
            yield from each


def shared_matrices(view: PlanView, problem: Problem) -> Matrices:
    """Return the rows of the program; pieces that only one query could need remain in its configurations.

    Parameters
    ----------
    view, problem
        The queries, and the problem of them.
    """
    plain, pieces = Matrices.of(problem), _pieces(view, problem)
    demand, shared, count, rows = _Entries(), _Entries(), len(plain.rows), 0
    for piece in pieces:
        if len(piece.needs) == 1:
            for variable, shares in piece.all():
                for at in np.flatnonzero(shares).tolist():
                    demand.add(at, variable, shares[at])
            continue
        for sizes, weights in _variables(piece):
            for at in np.flatnonzero(sizes).tolist():
                demand.add(at, count, sizes[at])
            # One row for each query, because it runs at most one of its configurations.
            for variables in weights:
                for variable, weight in variables:
                    shared.add(rows, variable, weight)
                shared.add(rows, count, -1.0)
                rows += 1
            count += 1
    choice = hstack([plain.choice, csr_array((len(problem), count - len(plain.rows)))])
    return Matrices(
        plain.rows,
        demand.matrix(problem.resources, count),
        csr_array(choice),
        shared.matrix(rows, count) if rows else None,
    )


def _variables(piece: _Piece) -> Iterator[tuple[_Floats, list[list[tuple[int, float]]]]]:
    """Yield for each variable of a piece its demands (L,), and by query the configurations that it must cover."""
    of = list(piece.needs.values())
    first = of[0][0][1]
    if all((shares == first).all() for _, shares in piece.all()):
        yield first, [[(variable, 1.0) for variable, _ in each] for each in of]
        return
    for at in range(len(first)):
        if any(shares[at] > 0.0 for _, shares in piece.all()):
            unit = np.zeros(len(first))
            unit[at] = 1.0
            yield unit, [[(variable, float(shares[at])) for variable, shares in each] for each in of]


def _pieces(view: PlanView, problem: Problem) -> list[_Piece]:
    """Return the pieces of all configurations that can run alone."""
    found: dict[int, _Piece] = {}
    variable = 0
    for i, options in enumerate(view.queries):
        for choice in range(len(options)):
            if problem.cost[problem.start[i] + choice] > ROOM:
                continue
            for piece, rates in parts(options, choice):
                shares = shares_of(rates, view.capacity)
                found.setdefault(piece, _Piece()).add(i, variable, shares)
            variable += 1
    return list(found.values())
