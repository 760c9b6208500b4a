"""Thresholds on scores: fixed, or moved so that a node is down for just the share of time that its user allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.admit.lib.subspace import Floats
from windlass.model import InputError
from windlass.model.values import number

#: How far a threshold moves after a step, in mean deviations of scores from it; after a rejection, up by nearly that.
_GAIN = 0.1
#: How fast the mean deviation forgets.
_SLOW = 0.01
#: Over so many steps what was not spent of a downtime may be saved up, or spent at once.
SAVED = 1000.0


class Threshold:
    """Which scores are high.

    Without a downtime: those that reach ``value``. With one, a threshold per node starts there and is moved after
    each score: up by much where the score was above, down by little where it was not (stochastic approximation of a
    quantile, Robbins and Monro 1951, with a gain that stays, as scores drift). Scores that come in bursts or keep
    climbing would still be above it for longer. So each step also adds the downtime to what may be spent, a high score
    spends 1 of it, and where less than 1 is left no score is high. In any ``t`` steps there are thus at most
    ``downtime · (t + 1000)`` high ones. The threshold moves more slowly down the less is left. A score is judged by the
    threshold that the scores before it have left. Scores that are all alike are never high.

    Parameters
    ----------
    nodes
        How many have a score at a step.
    value
        Where thresholds start, or stay.
    downtime
        The share of steps that may be above, 0 to 1 and neither; None for thresholds that stay.
    gain
        How far a threshold moves at a step, in mean deviations of scores from it.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> fixed = Threshold(2, value=1.0)
    >>> fixed.above(np.array([0.9, 1.0])).tolist()
    [False, True]
    >>> moved, rng = Threshold(1, downtime=0.1), np.random.default_rng(1)
    >>> bool(abs(np.mean([moved.above(rng.normal(size=1)) for _ in range(5000)]) - 0.1) < 0.01)
    True
    """

    def __init__(
        self, nodes: int, value: float = 0.0, downtime: float | None = None, gain: float = _GAIN
    ) -> None:
        self.gain = gain
        self.level: Floats = np.full(nodes, number("threshold", value, -np.inf))
        self.scale: Floats = np.zeros(nodes)
        self.seen: NDArray[np.int64] = np.zeros(nodes, np.int64)
        self.downtime = downtime
        if downtime is not None and not 0.0 < downtime < 1.0:
            raise InputError(f"downtime is {downtime}, expected a share of time between 0 and 1")
        # At least 1, so that the smallest downtime can ever be spent.
        self.most = 1.0 if downtime is None else max(1.0, downtime * SAVED)
        self.left: Floats = np.full(nodes, self.most / 2.0)

    def above(self, scores: Floats, known: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """(n,) which scores are high, and move the thresholds of those that are ``known`` (all by default)."""
        if self.downtime is None:
            high = scores >= self.level
            return high if known is None else high & known
        counted = np.ones(len(scores), np.bool_) if known is None else known
        # Until a first score the threshold is in nobody's units.
        level = np.where(self.seen == 0, scores, self.level)
        above = (scores > level) & counted
        high = above & (self.left >= 1.0)
        self.left = np.where(counted, np.minimum(self.left + self.downtime, self.most) - high, self.left)
        off = np.abs(scores - level)
        slow = np.maximum(_SLOW, 1.0 / (self.seen + 1))
        self.scale = np.where(counted, self.scale + slow * (off - self.scale), self.scale)
        aim = self.downtime * (0.5 + self.left / self.most)
        self.level = np.where(counted, level + self.gain * self.scale * (above - aim), self.level)
        self.seen = self.seen + counted
        return high

    def rest(self, scores: Floats) -> NDArray[np.bool_]:
        """(n,) none of them: of such scores nobody is asked, and what may be spent grows.

        >>> moved = Threshold(1, downtime=0.5)
        >>> before = float(moved.left[0])
        >>> moved.rest(np.array([9.0])).tolist(), float(moved.left[0]) - before
        ([False], 0.5)
        """
        if self.downtime is not None:
            self.left = np.minimum(self.left + self.downtime, self.most)
        return np.zeros(len(scores), np.bool_)
