"""Conversion of choices into a plan with reasons."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.plan.lib.compact import shares_of
from windlass.plan.lib.problem import ROOM
from windlass.plan.view import Plan, PlanView, QueryOptions


def as_plan(
    view: PlanView,
    choices: NDArray[np.int64],
    merged: bool = False,
    part: NDArray[np.float64] | None = None,
) -> Plan:
    """Return the plan of choices; each reason states the change of the query, or the resource that it lacks.

    Parameters
    ----------
    view
        The queries.
    choices
        (n,) configuration of each query, −1 for none.
    merged
        Whether shared work counts once.
    part
        (L + 1,) share of each resource that one query may use, if each has shares of its own.
    """
    plan = Plan(tuple(choices.tolist()), ("",) * len(choices), merged)
    pairs = zip(view.queries, plan.choices, strict=True)
    why = [reason(options, choice) if choice >= 0 else "" for options, choice in pairs]
    absent = np.flatnonzero(choices < 0).tolist()
    if absent:
        used, limit = np.zeros(len(view.capacity) + 1), part
        if limit is None:
            used[:-1], limit = shares_of(plan.demand(view), view.capacity), np.ones(len(used))
        for i in absent:
            why[i] = f"cannot run: {shortage(view, used, i, limit)}"
    return Plan(plan.choices, tuple(why), merged)


def reason(options: QueryOptions, choice: int) -> str:
    """Return the reason of a query that runs."""
    label, accuracy, now = options.label(choice), float(options.accuracy[choice]), options.current
    if now < 0:
        return f"starts: {label}, accuracy {accuracy:.3g}"
    before = float(options.accuracy[now])
    if choice == now:
        return f"stays: {label}, accuracy {accuracy:.3g}"
    if accuracy > before:
        return f"more accurate, {accuracy:.3g} after {before:.3g}: {label}"
    if accuracy < before:
        return f"less accurate, {accuracy:.3g} after {before:.3g}, to fit: {label}"
    return f"equally accurate, {accuracy:.3g}, with other resources: {label}"


def shortage(view: PlanView, used: NDArray[np.float64], i: int, part: NDArray[np.float64]) -> str:
    """Return the resource that keeps a query from running: the scarcest one of the configuration that lacks least.

    Parameters
    ----------
    view
        The queries.
    used
        (L + 1,) demand of the other queries, as shares of the capacity.
    i
        Index of the query.
    part
        (L + 1,) share of each resource that it and the others may use.
    """
    own = view.queries[i].compact
    needs, columns = shares_of(own.needs, view.capacity[own.uses]), own.uses
    if not len(needs):
        return "it has no configurations"
    over = needs + used[columns] - part[columns] * ROOM
    lacks = np.where(needs > 0, over, -np.inf).max(axis=1, initial=-np.inf)
    best = int(lacks.argmin())
    if lacks[best] <= 0:
        return f"{view.queries[i].label(best)} would fit, but the policy does not consider it"
    column = int(np.where(needs[best] > 0, over[best], -np.inf).argmax())
    name = view.resources[columns[column]]
    capacity = float(view.capacity[columns[column]])
    demand = float(view.queries[i].demand[best, columns[column]])
    left = max(0.0, capacity * float(part[columns[column]] - used[columns[column]]))
    return f"not enough {name}: needs {demand:.3g}, {left:.3g} left of {capacity:.3g}"
