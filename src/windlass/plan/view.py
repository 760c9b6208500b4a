"""The view that planners of streaming queries read, and the plan that they return."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError, PolicyError
from windlass.model.values import number, whole
from windlass.plan.configurations import Configurations
from windlass.plan.lib.compact import CompactOptions

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Relative tolerance for sums of demands, which may be added up in another order.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class QueryOptions:
    """A query, and the k configurations in which it could run.

    Parameters
    ----------
    query
        A unique number.
    name
        Its name.
    accuracy
        (k,) accuracy of each configuration, 0 to 1.
    demand
        (k, L) demand of each configuration for each resource.
    labels
        (k,) description of each configuration, for reasons; empty if unknown.
    current
        The running configuration; −1 if it does not run.
    piece, piece_demand
        (k, c) and (k, c, L), see :class:`~windlass.plan.configurations.Configurations`, if queries may be
        merged; else None.
    place
        (k, c) index of the cluster of each component, −1 after the last; None if unknown.

    Raises
    ------
    InputError
        Shapes differ, or a value is out of bounds; the message names the query, the field and the value.

    Examples
    --------
    >>> QueryOptions(1, "cars", np.array([0.2, 1.7]), np.ones((2, 3)))
    Traceback (most recent call last):
    windlass.model.errors.InputError: query cars: accuracy of configuration 1 is 1.7, expected 0 to 1
    """

    query: int
    name: str
    accuracy: _Floats
    demand: _Floats
    labels: Sequence[str] = ()
    current: int = -1
    piece: _Ints | None = None
    piece_demand: _Floats | None = None
    place: _Ints | None = None
    #: The same configurations without unused resources, as planners compare them.
    compact: CompactOptions = field(init=False, repr=False)

    def __len__(self) -> int:
        return len(self.accuracy)

    def __post_init__(self) -> None:
        whole("query", self.query, 0)
        k = len(self.accuracy)
        wide = self.demand.shape[1] if self.demand.ndim == 2 else 0
        shapes: dict[str, tuple[int, ...]] = {"demand": (k, wide)}
        if self.piece is not None or self.piece_demand is not None:
            pieces = 0 if self.piece is None or self.piece.ndim != 2 else self.piece.shape[1]
            shapes |= {"piece": (k, pieces), "piece_demand": (k, pieces, wide)}
        for name, shape in shapes.items():
            found = np.shape(getattr(self, name))
            if found != shape:
                raise InputError(f"query {self.name}: {name} has shape {found}, expected {shape}")
        if self.place is not None and (self.place.ndim != 2 or len(self.place) != k):
            raise InputError(f"query {self.name}: place has shape {self.place.shape}, expected {(k, 'c')}")
        bounded(f"query {self.name}: accuracy of configuration", self.accuracy, 1.0)
        bounded(f"query {self.name}: demand of configuration", self.demand, np.inf)
        if self.labels and len(self.labels) != k:
            raise InputError(f"query {self.name}: {len(self.labels)} labels, expected {k}")
        self._check_current()
        object.__setattr__(self, "compact", CompactOptions.of(self.accuracy, self.demand))

    def _check_current(self) -> None:
        if not -1 <= self.current < len(self):
            raise InputError(f"query {self.name}: current is {self.current}, expected −1 to {len(self) - 1}")

    def running(self, current: int) -> QueryOptions:
        """Return the same options with another running configuration; only its number is checked.

        Raises
        ------
        InputError
            There is no such configuration.

        Examples
        --------
        >>> options = QueryOptions(1, "cars", np.array([0.2, 0.7]), np.ones((2, 3)))
        >>> options.running(1).current
        1
        """
        other = copy(self)
        object.__setattr__(other, "current", current)
        other._check_current()
        return other

    def label(self, j: int) -> str:
        """Return the description of a configuration, or its number."""
        return self.labels[j] if self.labels else f"configuration {j}"

    @staticmethod
    def of(query: int, found: Configurations, current: int = -1, merging: bool = False) -> QueryOptions:
        """Return the options of a query's configurations, with pieces if queries may be merged."""
        return QueryOptions(
            query,
            found.query.name,
            found.accuracy,
            found.demand,
            found.labels,
            current,
            found.piece if merging else None,
            found.piece_demand if merging else None,
            found.place,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PlanView:
    """The state that a planner may use for a decision.

    Parameters
    ----------
    now
        Current time on the engine's clock, s.
    resources
        (L,) names, for reasons and errors.
    capacity
        (L,) capacity of each resource; infinity if unlimited.
    queries
        The queries, in order of arrival.

    Raises
    ------
    InputError
        A capacity is negative or not a number, shapes differ, or a query occurs twice.
    """

    now: float
    resources: tuple[str, ...]
    capacity: _Floats
    queries: tuple[QueryOptions, ...]

    def __post_init__(self) -> None:
        number("now", self.now, -np.inf)
        if self.capacity.shape != (len(self.resources),):
            raise InputError(f"capacity has shape {self.capacity.shape}, expected {(len(self.resources),)}")
        for name, value in zip(self.resources, self.capacity.tolist(), strict=True):
            if not value >= 0:
                raise InputError(f"capacity of {name} is {value}, expected 0 or more")
        seen: set[int] = set()
        for options in self.queries:
            if options.demand.shape[1] != len(self.resources):
                raise InputError(
                    f"query {options.name}: demand has {options.demand.shape[1]} columns, "
                    f"expected {len(self.resources)}, one for each resource"
                )
            if options.query in seen:
                raise InputError(f"query {options.query} is in the view twice, expected each query once")
            seen.add(options.query)


@dataclass(frozen=True, slots=True)
class Plan:
    """A planner's answer: a configuration for each query.

    Parameters
    ----------
    choices
        (n,) configuration of each query, in the view's order; −1 if it cannot run.
    why
        (n,) one reason for each query.
    merged
        True if equal pieces run once for all queries that have them.

    Examples
    --------
    >>> options = QueryOptions(1, "cars", np.array([0.2, 0.9]), np.array([[1.0], [3.0]]))
    >>> view = PlanView(0.0, ("cloud.cores",), np.array([2.0]), (options,))
    >>> Plan((1,), ("most accurate",)).check(view)
    Traceback (most recent call last):
    windlass.model.errors.PolicyError: cloud.cores: total demand is 3, capacity is 2
    """

    choices: tuple[int, ...]
    why: tuple[str, ...]
    merged: bool = field(default=False)

    def check(self, view: PlanView) -> None:
        """Raise unless an engine can apply this plan.

        Raises
        ------
        PolicyError
            Not one choice and one reason for each query, an unknown configuration, or a total demand above a
            capacity.
        """
        n = len(view.queries)
        if len(self.choices) != n or len(self.why) != n:
            raise PolicyError(
                f"{len(self.choices)} choices and {len(self.why)} reasons, expected {n} of each"
            )
        for options, choice, why in zip(view.queries, self.choices, self.why, strict=True):
            if type(choice) is not int or not -1 <= choice < len(options):
                bounds = f"expected a whole number from −1 to {len(options) - 1}"
                raise PolicyError(f"query {options.name}: configuration {choice!r}, {bounds}")
            if not why:
                raise PolicyError(f"query {options.name}: no reason is given")
        demands = self.demand(view).tolist()
        for name, demand, capacity in zip(view.resources, demands, view.capacity.tolist(), strict=True):
            if demand > capacity * (1.0 + TOLERANCE):
                raise PolicyError(f"{name}: total demand is {demand:.6g}, capacity is {capacity:.6g}")

    def demand(self, view: PlanView) -> _Floats:
        """Return the total demand (L,) of all queries; if they are merged, a shared piece counts once."""
        total = np.zeros(len(view.resources))
        once: dict[int, _Floats] = {}
        for options, choice in zip(view.queries, self.choices, strict=True):
            if choice < 0:
                continue
            if not self.merged or options.piece is None or options.piece_demand is None:
                total += options.demand[choice]
                continue
            for piece, rates in zip(
                options.piece[choice].tolist(), options.piece_demand[choice], strict=True
            ):
                # Two profiles of the same work may differ slightly; the larger demand counts.
                once[piece] = np.maximum(once[piece], rates) if piece in once else rates
        once.pop(-1, None)
        for rates in once.values():
            total += rates
        return total


def bounded(name: str, values: _Floats, most: float) -> None:
    """Raise unless all values are finite and from 0 to ``most``; the error names the row and the value."""
    # min() and max() need no copy, and both are NaN if a value is NaN, so that the comparisons fail.
    if not values.size or (values.min() >= 0 and values.max() <= most and values.max() < np.inf):
        return
    bad = ~(np.isfinite(values) & (values >= 0) & (values <= most))
    at = tuple(int(each) for each in np.argwhere(bad)[0])
    of = f"{at[0]}" + (f" of resource {at[1]}" if len(at) > 1 else "")
    bounds = f"0 to {most:g}" if most < np.inf else "a finite number of 0 or more"
    raise InputError(f"{name} {of} is {values[at]}, expected {bounds}")
