"""Re-planning with few changes: only those switches of running queries that are needed or worth it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.plan.lib.problem import ROOM, Problem

_Ints = NDArray[np.int64]


def with_few_changes(problem: Problem, current: _Ints, wanted: _Ints, worth: float) -> _Ints:
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

    Returns
    -------
    Choices that fit. New queries start as wanted if that fits. If the running configurations do not fit, or keep a
    query from running, queries change to the wanted plan, in order of relief for each point of accuracy lost.
    """
    choices = np.where(current >= 0, current, wanted)
    changed = choices != wanted
    while not problem.fits(choices):
        at = _relieves(problem, choices, wanted, np.flatnonzero(changed))
        choices[at], changed[at] = wanted[at], False
    # All changes together first, because one may need what another releases: the wanted plan, if it gains
    # enough.
    left = np.flatnonzero(changed)
    if len(left) and _gain(problem, choices, wanted, left).sum() >= worth * len(left):
        return wanted.copy()
    for at in left[np.argsort(-_gain(problem, choices, wanted, left), kind="stable")].tolist():
        single = choices.copy()
        single[at] = wanted[at]
        if _gain(problem, choices, wanted, np.array([at]))[0] >= max(worth, 1e-12) and problem.fits(single):
            choices = single
    return choices


def _value(problem: Problem, choices: _Ints, which: _Ints) -> NDArray[np.float64]:
    runs = choices[which] >= 0
    rows = np.where(runs, problem.start[:-1][which] + choices[which], 0)
    # A query that does not run counts less than any accuracy.
    return np.where(runs, problem.accuracy[rows], -1.0) if len(problem.accuracy) else np.zeros(len(which))


def _gain(problem: Problem, choices: _Ints, wanted: _Ints, which: _Ints) -> NDArray[np.float64]:
    return _value(problem, wanted, which) - _value(problem, choices, which)


def _relieves(problem: Problem, choices: _Ints, wanted: _Ints, which: _Ints) -> int:
    """Return the query whose change relieves most overload for the accuracy that it loses."""
    best, merit = int(which[0]), -np.inf
    before = np.maximum(0.0, problem.used(choices)[:-1] - ROOM)
    before = np.where(np.isfinite(before), before, 1e6).sum()
    losses = -_gain(problem, choices, wanted, which)
    for at, loss in zip(which.tolist(), losses.tolist(), strict=True):
        single = choices.copy()
        single[at] = wanted[at]
        after = np.maximum(0.0, problem.used(single)[:-1] - ROOM)
        relief = before - np.where(np.isfinite(after), after, 1e6).sum()
        own = relief / max(loss, 0.01) if relief > 0 else relief - 1e6
        if own > merit:
            best, merit = at, own
    return best
