"""Placement of the tasks of one stage, exact and fast: :func:`map_stage` and :func:`reduce_stage`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.place.lib.search import NO_BUDGET, NO_ROOM, SOLVED
from windlass.place.lib.stage import BAD_VALUE, MAP_STAGE, REDUCE_STAGE, STRANDED

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MapPlan:
    """The placement of a map stage.

    Parameters
    ----------
    flow
        (n, n) fraction of the tasks that read from the row's site and run at the column's.
    transfer_s, compute_s
        Time of transfers, and then of computing, s; their sum is the least possible.
    """

    flow: _Floats
    transfer_s: float
    compute_s: float

    @property
    def share(self) -> _Floats:
        """(n,) fraction of the tasks at each site."""
        total: _Floats = self.flow.sum(axis=0)
        return total

    @property
    def stage_s(self) -> float:
        """Transfer and compute time, s."""
        return self.transfer_s + self.compute_s


@dataclass(frozen=True, slots=True)
class ReducePlan:
    """The placement of a reduce stage.

    Parameters
    ----------
    share
        (n,) fraction of the tasks at each site.
    transfer_s, compute_s
        Time of the shuffle, and then of computing, s; their sum is the least possible.
    """

    share: _Floats
    transfer_s: float
    compute_s: float

    @property
    def stage_s(self) -> float:
        """Transfer and compute time, s."""
        return self.transfer_s + self.compute_s


def map_stage(
    input_bytes: object,
    slots: object,
    up: object,
    down: object,
    tasks: float,
    task_s: float,
    wan_budget: float | None = None,
) -> MapPlan:
    """Place a map stage with the exact minimum of transfer plus compute time.

    Parameters
    ----------
    input_bytes
        (n,) input at each site, bytes. If it is 0 everywhere, tasks are placed in proportion to slots.
    slots
        (n,) slots of each site; a site without slots computes nothing.
    up, down
        (n,) uplink and downlink of each site, bytes/s; 0 for none.
    tasks
        Number of tasks of the stage.
    task_s
        Compute time of a task, s.
    wan_budget
        Maximum number of bytes that may leave their sites; None for no limit.

    Returns
    -------
    MapPlan
        A plan with these times that moves the fewest bytes.

    Raises
    ------
    InputError
        A value is negative or not finite, shapes differ, no site can run the tasks, or the budget is less
        than what has to move.

    Source: thesis, section 4.3.1, equations 4.1–4.5, and 4.4.3 for the budget.

    Examples
    --------
    >>> plan = map_stage([20e9, 30e9, 50e9], [40, 10, 20], [5e9, 1e9, 2e9], [5e9, 1e9, 5e9], tasks=1000, task_s=2)
    >>> round(plan.transfer_s, 4), round(plan.compute_s, 4)
    (15.7143, 28.5714)
    >>> plan.share.round(4).tolist()
    [0.5714, 0.1429, 0.2857]
    """
    data, slot, link_up, link_down, work, budget = _arguments(
        "input_bytes", input_bytes, slots, up, down, tasks, task_s, wan_budget
    )
    share, flow = np.empty(len(data)), np.empty((len(data), len(data)))
    transfer_s, compute_s, status, where = MAP_STAGE.ready()(
        data, slot, link_up, link_down, work, budget, share, flow
    )
    if status != SOLVED:
        raise _error(status, where, "input_bytes", data, slot, link_up, link_down, wan_budget)
    return MapPlan(flow, transfer_s, compute_s)


def reduce_stage(
    intermediate_bytes: object,
    slots: object,
    up: object,
    down: object,
    tasks: float,
    task_s: float,
    wan_budget: float | None = None,
) -> ReducePlan:
    """Place a reduce stage, whose tasks read from all sites, with the minimum of shuffle plus compute time.

    Parameters
    ----------
    intermediate_bytes
        (n,) bytes that the stage reads at each site.
    slots, up, down, tasks, task_s, wan_budget
        See :func:`map_stage`.

    Returns
    -------
    ReducePlan
        The plan with these times that moves the fewest bytes.

    Raises
    ------
    InputError
        See :func:`map_stage`.

    Source: thesis, section 4.3.2, equations 4.6–4.10, and 4.4.3 for the budget.

    Examples
    --------
    >>> plan = reduce_stage([10e9, 15e9, 25e9], [40, 10, 20], [5e9, 1e9, 2e9], [5e9, 1e9, 5e9], tasks=500, task_s=1)
    >>> round(plan.transfer_s, 4), round(plan.compute_s, 4)
    (12.8571, 7.1429)
    """
    data, slot, link_up, link_down, work, budget = _arguments(
        "intermediate_bytes", intermediate_bytes, slots, up, down, tasks, task_s, wan_budget
    )
    share = np.empty(len(data))
    transfer_s, compute_s, status, where = REDUCE_STAGE.ready()(
        data, slot, link_up, link_down, work, budget, share
    )
    if status != SOLVED:
        raise _error(status, where, "intermediate_bytes", data, slot, link_up, link_down, wan_budget)
    return ReducePlan(share, transfer_s, compute_s)


def _arguments(
    name: str,
    data: object,
    slots: object,
    up: object,
    down: object,
    tasks: float,
    task_s: float,
    wan_budget: float | None,
) -> tuple[_Floats, _Floats, _Floats, _Floats, float, float]:
    columns = (column(name, data), column("slots", slots), column("up", up), column("down", down))
    for label, found in zip(("slots", "up", "down"), columns[1:], strict=True):
        if found.shape != columns[0].shape:
            raise InputError(f"{label} has shape {found.shape}, expected {columns[0].shape} as {name} has")
    for label, value in (("tasks", tasks), ("task_s", task_s), ("wan_budget", wan_budget or 0.0)):
        if not 0.0 <= value < math.inf:
            raise InputError(f"{label} is {value}, expected a finite number of 0 or more")
    budget = math.inf if wan_budget is None else float(wan_budget)
    return (*columns, float(tasks) * float(task_s), budget)


def column(name: str, values: object) -> _Floats:
    """Convert array-like values into a column of floats.

    Raises
    ------
    InputError
        The values are not one row of numbers, or are empty; the message names them.

    Examples
    --------
    >>> column("slots", [1, 2])
    array([1., 2.])
    """
    try:
        found = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: {error}") from error
    if found.ndim != 1 or not len(found):
        raise InputError(f"{name} has shape {found.shape}, expected (n,) with at least one site")
    return found


def _error(
    status: int,
    where: int,
    name: str,
    data: _Floats,
    slots: _Floats,
    up: _Floats,
    down: _Floats,
    wan_budget: float | None,
) -> InputError:
    if status >= BAD_VALUE:
        label, values = ((name, data), ("slots", slots), ("up", up), ("down", down))[status - BAD_VALUE]
        return InputError(f"{label}[{where}] is {values[where]}, expected a finite number of 0 or more")
    if status == STRANDED:
        return InputError(
            f"{name}[{where}] is {data[where]:g} bytes, but slots[{where}] is {slots[where]:g}, up[{where}] is"
            f" {up[where]:g} and down[{where}] is {down[where]:g}: no site can read it"
        )
    if status == NO_BUDGET:
        return InputError(f"wan_budget is {wan_budget} bytes, less than what has to leave its site")
    assert status == NO_ROOM
    return InputError(
        f"slots: the sites with slots ({int((slots > 0).sum())} of {len(slots)}) cannot get all the data"
        " over their links"
    )
