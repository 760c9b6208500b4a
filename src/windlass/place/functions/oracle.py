"""The placement programs solved by HiGHS: an oracle for tests, and for stages with additional constraints.

It is two hundred to a thousand times slower than :mod:`~windlass.place.functions.stage`, but accepts any
linear constraint; here a limit for each pair of sites.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

from windlass.model import InputError
from windlass.place.functions.stage import MapPlan, ReducePlan, column

_Floats = NDArray[np.float64]
_TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class LinearProgram:
    """A linear program built row by row and solved by HiGHS.

    Parameters
    ----------
    variables
        Number of variables, each at least 0.

    Examples
    --------
    >>> model = LinearProgram(2)
    >>> model.at_most([0, 1], [-1.0, -1.0], -3.0)
    >>> model.solve(np.array([1.0, 2.0])).tolist()
    [3.0, 0.0]
    """

    def __init__(self, variables: int) -> None:
        self.variables = variables
        self._less: list[tuple[object, object, float]] = []
        self._equal: list[tuple[object, object, float]] = []

    def at_most(self, places: object, weights: object, bound: float) -> None:
        """Add the constraint Σ weight · variable ≤ bound."""
        self._less.append((places, weights, bound))

    def exactly(self, places: object, weights: object, bound: float) -> None:
        """Add the constraint Σ weight · variable = bound."""
        self._equal.append((places, weights, bound))

    def arguments(self, cost: _Floats) -> dict[str, object]:
        """Return the arguments of :func:`scipy.optimize.linprog`."""
        less, bounds = self._matrix(self._less)
        equal, values = self._matrix(self._equal)
        return {"c": cost, "A_ub": less, "b_ub": bounds, "A_eq": equal, "b_eq": values}

    def solve(self, cost: _Floats) -> _Floats:
        """Return the variables that minimise Σ cost · variable.

        Raises
        ------
        InputError
            No values satisfy all rows.
        """
        found = linprog(**self.arguments(cost), bounds=(0, None), method="highs-ds", options=_TIGHT)
        if found.status != 0:
            raise InputError(f"no placement satisfies the constraints: {found.message}")
        return np.asarray(found.x, dtype=np.float64)

    def _matrix(self, rows: list[tuple[object, object, float]]) -> tuple[object, object]:
        if not rows:
            return None, None
        places = [np.atleast_1d(np.asarray(places)) for places, _, _ in rows]
        weights = [
            np.broadcast_to(np.asarray(weights, dtype=np.float64), own.shape)
            for own, (_, weights, _) in zip(places, rows, strict=True)
        ]
        lines = np.repeat(np.arange(len(rows)), [len(own) for own in places])
        matrix = coo_array(
            (np.concatenate(weights), (lines, np.concatenate(places))), shape=(len(rows), self.variables)
        )
        return matrix.tocsr(), np.array([bound for _, _, bound in rows])


def map_model(
    data: _Floats, slots: _Floats, up: _Floats, down: _Floats, work: float, budget: float | None
) -> tuple[LinearProgram, _Floats]:
    """Return the model of equations 4.1-4.5, with n² fractions by row, then T_aggr and T_map, and its cost."""
    n, total = len(data), data.sum()
    model = LinearProgram(n * n + 2)
    cell = np.arange(n * n).reshape(n, n)
    transfer, compute = n * n, n * n + 1
    for x in range(n):
        others = np.delete(np.arange(n), x)
        # In bytes, because a link of 0 would be a division by 0 in seconds.
        model.at_most([*cell[x, others], transfer], [*np.ones(n - 1), -up[x] / total], 0.0)
        model.at_most([*cell[others, x], transfer], [*np.ones(n - 1), -down[x] / total], 0.0)
        model.at_most([*cell[:, x], compute], [*np.ones(n), -slots[x] / (work or 1.0)], 0.0)
        model.exactly(cell[x], 1.0, data[x] / total)
    if budget is not None:
        model.at_most(cell[~np.eye(n, dtype=bool)], 1.0, budget / total)
    cost = np.zeros(n * n + 2)
    cost[[transfer, compute]] = 1.0, float(work > 0.0)
    return model, cost


def reduce_model(
    data: _Floats, slots: _Floats, up: _Floats, down: _Floats, work: float, budget: float | None
) -> tuple[LinearProgram, _Floats]:
    """Return the model of equations 4.6-4.10, with n shares, then T_shufl and T_red, and its cost."""
    n, total = len(data), data.sum()
    model = LinearProgram(n + 2)
    for x in range(n):
        model.at_most([x, n], [-data[x] / total, -up[x] / total], -data[x] / total)
        model.at_most([x, n], [(total - data[x]) / total, -down[x] / total], 0.0)
        model.at_most([x, n + 1], [1.0, -slots[x] / (work or 1.0)], 0.0)
    model.exactly(np.arange(n), 1.0, 1.0)
    if budget is not None:
        model.at_most(np.arange(n), -data / total, budget / total - 1.0)
    cost = np.zeros(n + 2)
    cost[n:] = 1.0, float(work > 0.0)
    return model, cost


def map_stage_highs(
    input_bytes: object,
    slots: object,
    up: object,
    down: object,
    tasks: float,
    task_s: float,
    wan_budget: float | None = None,
    pair: object = None,
) -> MapPlan:
    """Place a map stage by the full program of n² + 2 variables.

    Parameters
    ----------
    input_bytes, slots, up, down, tasks, task_s, wan_budget
        See :func:`windlass.place.map_stage`.
    pair
        (n, n) bandwidth limit of each pair of sites, bytes/s; None for no limit.

    Raises
    ------
    InputError
        No placement satisfies the constraints.

    Examples
    --------
    >>> sites = ([20e9, 30e9, 50e9], [40, 10, 20], [5e9, 1e9, 2e9], [5e9, 1e9, 5e9])
    >>> round(map_stage_highs(*sites, tasks=1000, task_s=2).stage_s, 4)
    44.2857
    >>> slow = [[0, 1e9, 1e9], [0.5e9, 0, 1e9], [1e9, 1e9, 0]]
    >>> round(map_stage_highs(*sites, tasks=1000, task_s=2, pair=slow).stage_s, 4)
    53.3333
    """
    data, work = column("input_bytes", input_bytes), float(tasks) * float(task_s)
    links = column("up", up), column("down", down)
    model, cost = map_model(data, column("slots", slots), *links, work, wan_budget)
    n = len(data)
    if pair is not None:
        limits = np.asarray(pair, dtype=np.float64)
        for x, y in zip(*np.nonzero(np.isfinite(limits) & ~np.eye(n, dtype=bool)), strict=True):
            model.at_most([x * n + y, n * n], [1.0, -limits[x, y] / data.sum()], 0.0)
    found = model.solve(cost)
    return MapPlan(found[: n * n].reshape(n, n), float(found[-2]), float(found[-1]) if work > 0.0 else 0.0)


def reduce_stage_highs(
    intermediate_bytes: object,
    slots: object,
    up: object,
    down: object,
    tasks: float,
    task_s: float,
    wan_budget: float | None = None,
    pair: object = None,
) -> ReducePlan:
    """Place a reduce stage by the program of n + 2 variables; parameters as in :func:`map_stage_highs`.

    Examples
    --------
    >>> sites = ([10e9, 15e9, 25e9], [40, 10, 20], [5e9, 1e9, 2e9], [5e9, 1e9, 5e9])
    >>> round(reduce_stage_highs(*sites, tasks=500, task_s=1).stage_s, 4)
    20.0
    """
    data, work = column("intermediate_bytes", intermediate_bytes), float(tasks) * float(task_s)
    links = column("up", up), column("down", down)
    model, cost = reduce_model(data, column("slots", slots), *links, work, wan_budget)
    if pair is not None:
        limits = np.asarray(pair, dtype=np.float64)
        for x, y in zip(*np.nonzero(np.isfinite(limits) & ~np.eye(len(data), dtype=bool)), strict=True):
            model.at_most([y, len(data)], [data[x] / data.sum(), -limits[x, y] / data.sum()], 0.0)
    found = model.solve(cost)
    return ReducePlan(found[:-2], float(found[-2]), float(found[-1]) if work > 0.0 else 0.0)
