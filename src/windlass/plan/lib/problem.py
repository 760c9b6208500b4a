"""Queries, configurations and capacities as a few flat arrays: what every planner works on.

All demands are as parts of the capacity. A query uses few of all resources, those on its camera's way up, so each row
has only the columns that its query could use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.plan.view import TOLERANCE, PlanView, bounded

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: What sums may reach, as a part of the capacity: less than what a check lets pass, as it adds up in another order.
ROOM = 1.0 + TOLERANCE / 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """n queries with K configurations in all, over L resources; parts of the capacity throughout.

    Parameters
    ----------
    start
        (n + 1,) int64; the configurations of query i are the rows ``start[i]`` to ``start[i + 1]``.
    accuracy
        (K,) of each configuration.
    columns
        (n, w) int64, the resources that each query could use; those left over are L, of which there is enough.
    demand
        (K, w) what each configuration asks for of its query's columns, as a part of the capacity; infinity where there
        is none of what it needs.
    cost
        (K,) the largest of these: the dominant utilisation S.
    resources
        L.
    """

    start: _Ints
    accuracy: _Floats
    columns: _Ints
    demand: _Floats
    cost: _Floats
    resources: int

    def __len__(self) -> int:
        return len(self.start) - 1

    def owners(self) -> _Ints:
        """(K,) whose each configuration is."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def only(self, keep: NDArray[np.bool_]) -> Problem:
        """The same with the marked configurations (K,) alone."""
        start = np.append(0, np.cumsum(keep))[self.start]
        return Problem(
            start, self.accuracy[keep], self.columns, self.demand[keep], self.cost[keep], self.resources
        )

    def whole(self, keep: NDArray[np.bool_], choices: _Ints) -> _Ints:
        """Choices among the marked ones as choices among all."""
        rows = np.flatnonzero(keep)
        start = np.append(0, np.cumsum(keep))[self.start[:-1]]
        runs, found = choices >= 0, np.full(len(self), -1)
        found[runs] = rows[(start + choices)[runs]] - self.start[:-1][runs]
        return found

    def used(self, choices: _Ints) -> _Floats:
        """(L + 1,) what choices ask for together, as parts of the capacity; the last is of no resource.

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
        """Whether all choices fit together."""
        return bool((self.used(choices)[:-1] <= ROOM).all())

    def score(self, choices: _Ints) -> tuple[int, float]:
        """How many queries run, and the sum of their accuracies: what planners compare plans by, in this order."""
        runs = choices >= 0
        return int(runs.sum()), float(self.accuracy[(self.start[:-1] + choices)[runs]].sum())

    @staticmethod
    def of(accuracy: Sequence[object], demand: Sequence[object], capacity: object) -> Problem:
        """From arrays as users of the library have them.

        Raises
        ------
        InputError
            Shapes do not match, or a value is negative or not a number; the message has the query and the value.

        Examples
        --------
        >>> Problem.of([[0.2, 0.9]], [[[1.0], [3.0]]], [-4.0])
        Traceback (most recent call last):
        windlass.model.errors.InputError: capacity of resource 0 is -4.0, expected 0 or more
        """
        there = np.asarray(capacity, dtype=np.float64)
        if there.ndim != 1:
            raise InputError(f"capacity has shape {there.shape}, expected one number a resource")
        if not (there >= 0).all():
            at = int(np.argmin(there >= 0))
            raise InputError(f"capacity of resource {at} is {there[at]}, expected 0 or more")
        if len(accuracy) != len(demand):
            raise InputError(f"demand is of {len(demand)} queries, expected {len(accuracy)}, as accuracy")
        pairs = []
        for i, (own, asked) in enumerate(zip(accuracy, demand, strict=True)):
            values = np.asarray(own, dtype=np.float64)
            rows = np.asarray(asked, dtype=np.float64)
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
            pairs.append((values, rows))
        return _put_together(pairs, there)

    @staticmethod
    def seen(view: PlanView) -> Problem:
        """From a view, which has checked its numbers."""
        return _put_together([(options.accuracy, options.demand) for options in view.queries], view.capacity)


def _put_together(pairs: list[tuple[_Floats, _Floats]], capacity: _Floats) -> Problem:
    uses = [np.flatnonzero(rows.any(axis=0)) for _, rows in pairs]
    width = max((len(own) for own in uses), default=0)
    start = np.zeros(len(pairs) + 1, np.int64)
    np.cumsum([len(values) for values, _ in pairs], out=start[1:])
    columns = np.full((len(pairs), width), len(capacity))
    demand = np.zeros((int(start[-1]), width))
    for i, ((_, rows), own) in enumerate(zip(pairs, uses, strict=True)):
        columns[i, : len(own)] = own
        asked, there = rows[:, own], capacity[own]
        with np.errstate(divide="ignore", invalid="ignore"):
            demand[start[i] : start[i + 1], : len(own)] = np.where(asked > 0, asked / there, 0.0)
    accuracy = np.concatenate([values for values, _ in pairs]) if pairs else np.empty(0)
    cost = demand.max(axis=1, initial=0.0)
    return Problem(start, accuracy, columns, demand, cost, len(capacity))
