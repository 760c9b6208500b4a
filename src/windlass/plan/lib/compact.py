"""The configurations of a query without unused resources, and those that a planner may have to choose.

Options do not change while a query runs, and planners are called again and again. What follows from the options alone
is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def mark_undominated(order, needs, kept, keep):
    """Mark the configurations that no earlier one in ``order`` undercuts; ``kept`` is room for as many numbers."""
    count = 0
    for row in order:
        at = 0
        while at < count:
            need = 0
            while need < needs.shape[1] and needs[kept[at], need] <= needs[row, need]:
                need += 1
            if need == needs.shape[1]:
                break
            at += 1
        if at == count:
            kept[count] = row
            keep[row] = True
            count += 1
        else:
            # The next configurations are similar, so that the same one probably undercuts them.
            kept[at], kept[at // 2] = kept[at // 2], kept[at]


UNDOMINATED = Kernel(
    mark_undominated,
    types.void(types.int64[::1], types.float64[:, ::1], types.int64[::1], types.boolean[::1]),
    allocates=False,
)


@dataclass(frozen=True, eq=False)
class CompactOptions:
    """k configurations of a query, with the w resources that it could use.

    Parameters
    ----------
    accuracy
        (k,) accuracy of each configuration.
    uses
        (w,) indices of the resources that some configuration of the query needs.
    needs
        (k, w) demand of each configuration for these.
    by_accuracy
        (k,) the configurations, the most accurate first, of equals the first one first.
    number
        (k,) index of each among all configurations of the query.
    """

    accuracy: _Floats
    uses: _Ints
    needs: _Floats
    by_accuracy: _Ints
    number: _Ints

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what is computed later, so that a view has the same bytes before and after a decision."""
        return CompactOptions, (self.accuracy, self.uses, self.needs, self.by_accuracy, self.number)

    @staticmethod
    def of(accuracy: _Floats, demand: _Floats) -> CompactOptions:
        """Return all configurations, given (k,) accuracies and (k, L) demands for all resources."""
        uses = np.flatnonzero(demand.any(axis=0))
        return CompactOptions(
            accuracy,
            uses,
            np.ascontiguousarray(demand[:, uses], np.float64),
            np.argsort(-accuracy, kind="stable"),
            np.arange(len(accuracy)),
        )

    @cached_property
    def undominated(self) -> CompactOptions:
        """The configurations that no other dominates.

        One dominates another if it needs no more of any resource and is more accurate; of equally accurate ones, if it
        comes first. Whatever the capacities, ``cascade`` and ``fair`` never prefer a dominated configuration.

        Examples
        --------
        The second one needs less than the first one, and the third one more than the second one:

        >>> cores = np.array([[2.0], [1.0], [3.0]])
        >>> CompactOptions.of(np.array([0.5, 0.5, 0.4]), cores).undominated.number.tolist()
        [0, 1]
        """
        keep = np.zeros(len(self.accuracy), np.bool_)
        UNDOMINATED.ready()(self.by_accuracy, self.needs, np.empty(len(keep), np.int64), keep)
        place = np.cumsum(keep) - 1
        order = self.by_accuracy
        return CompactOptions(
            self.accuracy[keep], self.uses, self.needs[keep], place[order[keep[order]]], self.number[keep]
        )


def shares_of(needs: _Floats, capacity: _Floats) -> _Floats:
    """Return demands (k, w) as shares of (w,) or (k, w) capacities: infinity for a demand without capacity."""
    shares = np.zeros(needs.shape)
    with np.errstate(divide="ignore"):
        np.divide(needs, capacity, out=shares, where=needs > 0)
    return shares
