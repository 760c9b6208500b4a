"""Choices as a plan, with reasons that are true of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.plan.lib.problem import ROOM, Problem
from windlass.plan.view import Plan, PlanView, QueryOptions


def answered(
    view: PlanView, problem: Problem, choices: NDArray[np.int64], merged: bool = False, part: float = 1.0
) -> Plan:
    """The plan of choices: each reason says what changes for the query, or what it lacks.

    Parameters
    ----------
    view, problem
        The same queries.
    choices
        (n,) a configuration each, −1 for none.
    merged
        Whether equal pieces count once.
    part
        Below 1 where each query has so much of every resource, whatever the others leave.
    """
    plan = Plan(tuple(choices.tolist()), ("",) * len(choices), merged)
    asked = plan.demand(view)
    with np.errstate(divide="ignore", invalid="ignore"):
        used = np.append(np.where((asked > 0) & (part == 1.0), asked / view.capacity, 0.0), 0.0)
    why = tuple(
        reason(options, choice) if choice >= 0 else f"cannot run: {shortage(view, problem, used, i, part)}"
        for i, (options, choice) in enumerate(zip(view.queries, plan.choices, strict=True))
    )
    return Plan(plan.choices, why, merged)


def reason(options: QueryOptions, choice: int) -> str:
    """What becomes of a query that runs."""
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
    return f"as accurate, {accuracy:.3g}, with other resources: {label}"


def shortage(view: PlanView, problem: Problem, used: NDArray[np.float64], i: int, part: float) -> str:
    """Which resource keeps a query from running: the one that is short for its configuration that lacks least.

    Parameters
    ----------
    view, problem
        The same queries.
    used
        (L + 1,) what the others ask for, as parts of the capacity.
    i
        Which query.
    part
        How much of each resource there is for it and the others.
    """
    own = slice(int(problem.start[i]), int(problem.start[i + 1]))
    asked = problem.demand[own]
    if not len(asked):
        return "it has no configurations"
    columns = problem.columns[i]
    over = asked + used[columns] - part * ROOM
    lacks = np.where(asked > 0, over, -np.inf).max(axis=1, initial=-np.inf)
    best = int(lacks.argmin())
    if lacks[best] <= 0:
        return f"{view.queries[i].label(best)} would fit, but is not among those that are looked at"
    column = int(np.where(asked[best] > 0, over[best], -np.inf).argmax())
    name = view.resources[columns[column]]
    there = float(view.capacity[columns[column]])
    want = float(view.queries[i].demand[best, columns[column]])
    left = max(0.0, there * (part - float(used[columns[column]])))
    return f"{name} is short, {want:.3g} wanted, {left:.3g} left of {there:.3g}"
