"""Queries, configurations and capacities as flat arrays, the input of every planner.

All demands are shares of the capacity. A query uses few of all resources, those on its camera's path, so each
row has only the columns that its query could use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model import InputError
from windlass.plan.lib.compact import CompactOptions
from windlass.plan.view import TOLERANCE, PlanView, bounded

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Limit of sums as a share of the capacity: half the tolerance of a plan's check, which adds up in another
#: order.
ROOM = 1.0 + TOLERANCE / 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """n queries with K configurations in total, over L resources; all demands are shares of the capacity.

    Parameters
    ----------
    start
        (n + 1,) int64; the configurations of query i are the rows ``start[i]`` to ``start[i + 1]``.
    accuracy
        (K,) accuracy of each configuration.
    columns
        (n, w) int64, indices of the resources that each query could use; unused entries are L, which has no
        limit.
    demand
        (K, w) demand of each configuration for its query's columns, as a share of the capacity; infinity if
        the capacity is 0.
    cost
        (K,) the largest of these: the dominant utilisation S.
    by_accuracy
        (K,) the rows of each query in turn, the most accurate first.
    resources
        L.
    """

    start: _Ints
    accuracy: _Floats
    columns: _Ints
    demand: _Floats
    cost: _Floats
    by_accuracy: _Ints
    resources: int

    def __len__(self) -> int:
        return len(self.start) - 1

    def owners(self) -> _Ints:
        """Return (K,) the query of each configuration."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def only(self, keep: NDArray[np.bool_]) -> Problem:
        """Return the problem with the marked configurations (K,) only."""
        place = np.append(0, np.cumsum(keep))
        order = place[self.by_accuracy[keep[self.by_accuracy]]]
        return Problem(
            place[self.start],
            self.accuracy[keep],
            self.columns,
            self.demand[keep],
            self.cost[keep],
            order,
            self.resources,
        )

    def whole(self, keep: NDArray[np.bool_], choices: _Ints) -> _Ints:
        """Convert choices among the marked configurations into choices among all."""
        rows = np.flatnonzero(keep)
        start = np.append(0, np.cumsum(keep))[self.start[:-1]]
        runs, found = choices >= 0, np.full(len(self), -1)
        found[runs] = rows[(start + choices)[runs]] - self.start[:-1][runs]
        return found

    def used(self, choices: _Ints) -> _Floats:
        """Return (L + 1,) the total demand of choices as shares of the capacity; the last entry is a placeholder.

        >>> problem = Problem.of([[0.5]] * 2, [[[1.0, 0.0]]] * 2, [4.0, 1.0])
        >>> problem.used(np.array([0, 0])).tolist()
        [0.5, 0.0, 0.0]
        """
        runs = choices >= 0
        rows = (self.start[:-1] + choices)[runs]
        total = np.zeros(self.resources + 1)
        np.add.at(total, self.columns[runs], self.demand[rows])
        return total

    def fits(self, choices: _Ints) -> bool:
        """Return whether all choices fit together."""
        return bool((self.used(choices)[:-1] <= ROOM).all())

    def score(self, choices: _Ints) -> tuple[int, float]:
        """Return the number of running queries and the sum of their accuracies; plans are compared in this order."""
        runs = choices >= 0
        return int(runs.sum()), float(self.accuracy[(self.start[:-1] + choices)[runs]].sum())

    @staticmethod
    def of(accuracy: Sequence[object], demand: Sequence[object], capacity: object) -> Problem:
        """Build a problem from arrays.

        Raises
        ------
        InputError
            Shapes differ, or a value is negative or not a number; the message names the query and the value.

        Examples
        --------
        >>> Problem.of([[0.2, 0.9]], [[[1.0], [3.0]]], [-4.0])
        Traceback (most recent call last):
        windlass.model.errors.InputError: capacity of resource 0 is -4.0, expected 0 or more
        """
        there = np.asarray(capacity, dtype=np.float64)
        if there.ndim != 1:
            raise InputError(f"capacity has shape {there.shape}, expected one number for each resource")
        if not (there >= 0).all():
            at = int(np.argmin(there >= 0))
            raise InputError(f"capacity of resource {at} is {there[at]}, expected 0 or more")
        if len(accuracy) != len(demand):
            raise InputError(f"demand has {len(demand)} queries, expected {len(accuracy)} as accuracy has")
        queries = []
        for i, (given, needs) in enumerate(zip(accuracy, demand, strict=True)):
            values = np.asarray(given, dtype=np.float64)
            rows = np.asarray(needs, dtype=np.float64)
            if values.ndim != 1:
                raise InputError(f"query {i}: accuracy has shape {values.shape}, expected (k,)")
            if rows.size == 0 and not len(values):
                rows = np.empty((0, len(there)))
            if rows.shape != (len(values), len(there)):
                raise InputError(
                    f"query {i}: demand has shape {rows.shape}, expected {(len(values), len(there))}"
                )
            bounded(f"query {i}: accuracy of configuration", values, 1.0)
            bounded(f"query {i}: demand of configuration", rows, np.inf)
            queries.append(CompactOptions.of(values, rows))
        return _build(queries, there)

    @staticmethod
    def of_view(view: PlanView) -> Problem:
        """Build a problem from a view, whose numbers are already checked."""
        return _build([one.compact for one in view.queries], view.capacity)

    @staticmethod
    def undominated(view: PlanView) -> Problem:
        """Build a problem of the configurations that no other of their query dominates.

        The greedy and fair shares choose the same as among all; :func:`from_undominated` converts their choices.
        """
        return _build([one.compact.undominated for one in view.queries], view.capacity)


def from_undominated(view: PlanView, choices: _Ints) -> _Ints:
    """Convert choices (n,) in a problem of :meth:`Problem.undominated` into choices among all configurations."""
    pairs = zip(view.queries, choices.tolist(), strict=True)
    found = [one.compact.undominated.number[choice] if choice >= 0 else -1 for one, choice in pairs]
    return np.array(found, np.int64)


def fill_demand(start, columns, capacity, demand, cost):
    """Divide demands by (L + 1,) capacities, and fill each configuration's largest share."""
    for i in range(len(start) - 1):
        for row in range(start[i], start[i + 1]):
            for at in range(columns.shape[1]):
                if demand[row, at] > 0.0:
                    demand[row, at] /= capacity[columns[i, at]]
                    cost[row] = max(cost[row], demand[row, at])


DEMAND = Kernel(
    fill_demand,
    types.void(
        types.int64[::1], types.int64[:, ::1], types.float64[::1], types.float64[:, ::1], types.float64[::1]
    ),
    allocates=False,
)


_NONE = CompactOptions.of(np.empty(0), np.empty((0, 0)))


def _build(queries: list[CompactOptions], capacity: _Floats) -> Problem:
    sizes = np.array([len(one.accuracy) for one in queries], np.int64)
    width = max((len(one.uses) for one in queries), default=0)
    start = np.append(0, np.cumsum(sizes))
    columns = np.full((len(queries), width), len(capacity))
    for i, one in enumerate(queries):
        columns[i, : len(one.uses)] = one.uses
    # Without queries there would be nothing to concatenate.
    queries = [*queries, _NONE]
    demand = np.concatenate([_widened(one.needs, width) for one in queries])
    cost = np.zeros(len(demand))
    DEMAND.ready()(start, columns, np.append(capacity, np.inf), demand, cost)
    return Problem(
        start,
        np.concatenate([one.accuracy for one in queries], dtype=np.float64),
        columns,
        demand,
        cost,
        np.concatenate([one.by_accuracy for one in queries]) + np.repeat(start[:-1], sizes),
        len(capacity),
    )


def _widened(needs: _Floats, width: int) -> _Floats:
    """Return demands (k, w) with zeros in further columns."""
    if needs.shape[1] == width:
        return needs
    wider = np.zeros((len(needs), width))
    wider[:, : needs.shape[1]] = needs
    return wider
