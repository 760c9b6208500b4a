"""Re-planning with few changes: only those switches of running queries that are needed or worth it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from windlass.plan.lib.problem import ROOM, Problem

_Ints = NDArray[np.int64]
#: Returns the (L,) demand of choices (n,) as shares of the capacity of each resource.
_Used = Callable[[_Ints], NDArray[np.float64]]


def with_few_changes(problem: Problem, current: _Ints, wanted: _Ints, worth: float, used: _Used) -> _Ints:
    """Return choices (n,) between the running and the wanted plan, with changes only if they are needed or worth it.

    Parameters
    ----------
    problem
        The current queries.
    current
        (n,) running configurations, −1 for none; together they may exceed the present capacity.
    wanted
        (n,) a plan that fits.
    worth
        Accuracy that a change of a running query has to gain on average, 0 to 1; infinity for needed changes
        only.
    used
        Returns the (L,) demand of choices as shares of the capacity; it may count equal work once.

    Returns
    -------
    Choices that fit. New queries start as wanted if that fits. If the running configurations do not fit, or keep a
    query from running, queries change to the wanted plan, in order of relief for each point of accuracy lost.
    """
    choices = np.where(current >= 0, current, wanted)
    changed = choices != wanted
    # Without a change left the choices are the wanted plan, which fits but for rounding.
    while changed.any() and (overload := _overload(used, choices)) > 0.0:
        at = _relieves(problem, choices, wanted, np.flatnonzero(changed), used, overload)
        choices[at], changed[at] = wanted[at], False
    # All changes together first, because one may need what another releases: the wanted plan, if it gains
    # enough.
    left = np.flatnonzero(changed)
    if len(left) and _gain(problem, choices, wanted, left).sum() >= worth * len(left):
        return wanted.copy()
    for at in left[np.argsort(-_gain(problem, choices, wanted, left), kind="stable")].tolist():
        single = choices.copy()
        single[at] = wanted[at]
        gains = _gain(problem, choices, wanted, np.array([at]))[0] >= max(worth, 1e-12)
        if gains and _overload(used, single) == 0.0:
            choices = single
    return choices


def _value(problem: Problem, choices: _Ints, which: _Ints) -> NDArray[np.float64]:
    runs = choices[which] >= 0
    rows = np.where(runs, problem.start[:-1][which] + choices[which], 0)
    # A query that does not run counts less than any accuracy.
    return np.where(runs, problem.accuracy[rows], -1.0) if len(problem.accuracy) else np.zeros(len(which))


def _gain(problem: Problem, choices: _Ints, wanted: _Ints, which: _Ints) -> NDArray[np.float64]:
    return _value(problem, wanted, which) - _value(problem, choices, which)


def _overload(used: _Used, choices: _Ints) -> float:
    """Return by how much the demand exceeds the capacity, summed over resources; 0 if the choices fit."""
    excess = np.maximum(0.0, used(choices) - ROOM)
    return float(np.where(np.isfinite(excess), excess, 1e6).sum())


def _relieves(
    problem: Problem, choices: _Ints, wanted: _Ints, which: _Ints, used: _Used, before: float
) -> int:
    """Return the query whose change relieves most of the overload ``before`` for the accuracy that it loses."""
    best, merit = int(which[0]), -np.inf
    losses = -_gain(problem, choices, wanted, which)
    for at, loss in zip(which.tolist(), losses.tolist(), strict=True):
        single = choices.copy()
        single[at] = wanted[at]
        relief = before - _overload(used, single)
        own = relief / max(loss, 0.01) if relief > 0 else relief - 1e6
        if own > merit:
            best, merit = at, own
    return best
