"""Excess risk of the mixture of experts over its best expert, compared with the bound of Theorem 1 of ASAx."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.share.lib.mixture import Mixture, Rule, bound

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LearningCurve:
    """Excess risk round by round.

    Parameters
    ----------
    excess
        (t,) cumulative risk of the mixture, less that of the best expert so far.
    allowed
        (t,) bound of Theorem 1 of ASAx.
    """

    excess: _Floats
    allowed: _Floats


def learning_curve(
    update: str, gamma: float | None, advice: _Floats, losses: _Floats, rng: np.random.Generator
) -> LearningCurve:
    """Run the learner on random actions and given losses, and record its excess risk.

    Parameters
    ----------
    update, gamma
        See :class:`~windlass.share.policies.asax.Asax`.
    advice
        (n, m) probability that each expert gives each action.
    losses
        (k, m) loss of each action in each case, 0 to 1.
    rng
        Draws the actions.

    Returns
    -------
    LearningCurve
        The curve over the finished rounds.

    Source: ASAx, Theorem 1 and Appendix A.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> found = learning_curve("anchored", None, np.array([[0.9, 0.1], [0.1, 0.9]]), rng.random((500, 2)), rng)
    >>> bool((found.excess <= found.allowed).all())
    True
    """
    n, m = advice.shape
    rule, known = Rule(n, m, update, gamma), Mixture.fresh(n)
    weighted, excess = 0.0, []
    for cost in losses:
        chances = known.blend(advice)
        action = int(rng.choice(m, p=chances))
        after = known.after(rule, advice[:, action], float(chances[action]), float(cost[action]))
        if after.rounds > known.rounds:
            weighted += float(known.weights @ (after.total - known.total))
            excess.append(weighted - float(after.total.min()))
        known = after
    return LearningCurve(np.array(excess), np.array([bound(rule, t + 1) for t in range(len(excess))]))


def turned_curve(update: str, gamma: float | None, first: int, second: int) -> LearningCurve:
    """Run the learner on losses that change sides: first one of two experts has the loss, then the other.

    Parameters
    ----------
    update, gamma
        See :class:`~windlass.share.policies.asax.Asax`.
    first, second
        Number of cases in which only the first expert has loss 1, and then number in which only the second
        has.

    Returns
    -------
    LearningCurve
        The curve over the finished rounds.

    Source: the proof of Theorem 1 of ASAx (Appendix A), whose last step these losses test.

    Examples
    --------
    >>> falls = turned_curve("printed", None, 200, 600)
    >>> holds = turned_curve("anchored", None, 200, 600)
    >>> bool(falls.excess[-1] > 3 * falls.allowed[-1]), bool((holds.excess <= holds.allowed).all())
    (True, True)
    """
    rule, known = Rule(2, 1, update, gamma), Mixture.fresh(2)
    weighted, excess = 0.0, []
    for case in range(first + second):
        after = known.after(rule, np.eye(2)[int(case >= first)], 1.0, 1.0)
        if after.rounds > known.rounds:
            weighted += float(known.weights @ (after.total - known.total))
            excess.append(weighted - float(after.total.min()))
        known = after
    return LearningCurve(np.array(excess), np.array([bound(rule, t + 1) for t in range(len(excess))]))
