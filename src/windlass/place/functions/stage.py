"""Where the tasks of one stage run: :func:`map_stage` and :func:`reduce_stage`, exact and fast."""

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
    """Where map tasks run.

    Parameters
    ----------
    flow
        (n, n) fraction of the tasks that run at the column's site and read from the row's.
    transfer_s, compute_s
        How long moving and then computing take, s; their sum is the least possible.
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
    """Where reduce tasks run.

    Parameters
    ----------
    share
        (n,) fraction of the tasks at each site.
    transfer_s, compute_s
        How long the shuffle and then computing take, s; their sum is the least possible.
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
    """Place a map stage so that transfer plus compute time is least, exactly.

    Parameters
    ----------
    input_bytes
        (n,) input at each site, bytes. Where it is 0 everywhere, tasks go where slots are.
    slots
        (n,) slots of each site; a site without any computes nothing.
    up, down
        (n,) uplink and downlink of each site, bytes/s; 0 for none.
    tasks
        Tasks of the stage.
    task_s
        How long a task computes, s.
    wan_budget
        The most bytes that may leave their sites; None for no limit.

    Returns
    -------
    MapPlan
        Of the plans with these times, one that moves the least bytes.

    Raises
    ------
    InputError
        A value is negative or not finite, shapes differ, no site can run the tasks, or the budget is less than
        what must move.

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
    """Place a reduce stage, each task of which reads from all sites, so that shuffle plus compute time is least.

    Parameters
    ----------
    intermediate_bytes
        (n,) what the stage reads at each site, bytes.
    slots, up, down, tasks, task_s, wan_budget
        As for :func:`map_stage`.

    Returns
    -------
    ReducePlan
        Of the plans with these times, the one that moves the least bytes.

    Raises
    ------
    InputError
        As for :func:`map_stage`.

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
            raise InputError(f"{label} has shape {found.shape}, expected {columns[0].shape}, that of {name}")
    for label, value in (("tasks", tasks), ("task_s", task_s), ("wan_budget", wan_budget or 0.0)):
        if not 0.0 <= value < math.inf:
            raise InputError(f"{label} is {value}, expected a finite number of 0 or more")
    budget = math.inf if wan_budget is None else float(wan_budget)
    return (*columns, float(tasks) * float(task_s), budget)


def column(name: str, values: object) -> _Floats:
    """A column of floats, from anything array-like.

    Raises
    ------
    InputError
        It is not one row of numbers, or empty; names it.

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
            f" {up[where]:g} and down[{where}] is {down[where]:g}: nobody can read it"
        )
    if status == NO_BUDGET:
        return InputError(f"wan_budget is {wan_budget} bytes, less than what must leave its site")
    assert status == NO_ROOM
    return InputError(
        f"slots: the sites that have some ({int((slots > 0).sum())} of {len(slots)}) cannot get all the data"
        " over their links"
    )
