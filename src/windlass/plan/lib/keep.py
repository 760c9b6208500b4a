"""Re-planning with few changes: from what runs to a better plan, by the switches that are worth it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.plan.lib.problem import ROOM, Problem

_Ints = NDArray[np.int64]


def settled(problem: Problem, current: _Ints, wanted: _Ints, worth: float) -> _Ints:
    """(n,) choices between what runs and what is wanted, with changes only where they are needed or worth it.

    Parameters
    ----------
    problem
        The queries as they are now.
    current
        (n,) what runs, −1 for what does not; all of it may be more than there is by now.
    wanted
        (n,) a plan that fits.
    worth
        How much accuracy a change of a running query has to bring on average, from 0 to 1; infinity for no change that
        is not needed.

    Returns
    -------
    Choices that fit. Those who do not run start as wanted where that fits. Where what runs does not fit, or keeps
    somebody from running, queries change to what is wanted, those first that relieve most for each point of accuracy.
    """
    choices = np.where(current >= 0, current, wanted)
    changed = choices != wanted
    while not problem.fits(choices):
        at = _relieves(problem, choices, wanted, np.flatnonzero(changed))
        choices[at], changed[at] = wanted[at], False
    # All at once first, as what one gives up another may need: the plan that is wanted, where it brings enough.
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
    # Who does not run at all lacks more than any accuracy.
    return np.where(runs, problem.accuracy[rows], -1.0) if len(problem.accuracy) else np.zeros(len(which))


def _gain(problem: Problem, choices: _Ints, wanted: _Ints, which: _Ints) -> NDArray[np.float64]:
    return _value(problem, wanted, which) - _value(problem, choices, which)


def _relieves(problem: Problem, choices: _Ints, wanted: _Ints, which: _Ints) -> int:
    """Whose change relieves most of what is too much, for what it loses."""
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
