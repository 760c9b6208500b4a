"""Thresholds on scores: fixed, or moved so that a node rejects for the share of time that the user allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.admit.lib.subspace import Floats
from windlass.model import InputError
from windlass.model.values import number

#: Step of a threshold, in mean deviations of scores from it; after a rejection it moves up by nearly that.
_GAIN = 0.1
#: Smoothing factor of the mean deviation.
_SLOW = 0.01
#: Relative rounding error of a score that is compared with a constant threshold.
_ROUNDING = 1e-12
#: Attributes of a threshold that are saved.
THRESHOLD_FIELDS = ("level", "scale", "seen", "left")
#: Number of steps whose downtime can be saved up and spent at once.
SAVED = 1000.0


class Threshold:
    """Classifier of scores as high.

    Without a downtime, scores that reach ``value`` are high. With one, a threshold per node starts there and is moved
    after each score: up by a large step if the score was above, down by a small one otherwise (stochastic
    approximation of a quantile, Robbins and Monro 1951, with a constant gain, because scores drift). Scores that come
    in bursts or keep climbing would still be above it for longer. Each step therefore also adds the downtime to a
    budget, a high score spends 1 of it, and no score is high while less than 1 is left. In any ``t`` steps there are
    at most ``downtime · (t + 1000)`` high scores. The threshold moves down more slowly the less is left. A score is
    compared with the threshold after the scores before it. Scores that are all equal are never high.

    Parameters
    ----------
    nodes
        Number of nodes, which have one score per step.
    value
        Initial threshold, constant without a downtime.
    downtime
        The share of steps that may be above, between 0 and 1, exclusive; None for a constant threshold.
    gain
        Step of a threshold, in mean deviations of scores from it.

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
        # At least 1, so that even the smallest downtime can be spent.
        self.most = 1.0 if downtime is None else max(1.0, downtime * SAVED)
        self.left: Floats = np.full(nodes, self.most / 2.0)

    def above(self, scores: Floats, known: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Return (n,) which scores are high, and move the thresholds of those that are ``known`` (default all)."""
        if self.downtime is None:
            # Weights that should sum to 1 may sum to a little less.
            high = scores >= self.level - _ROUNDING * np.abs(self.level)
            return high if known is None else high & known
        counted = np.ones(len(scores), np.bool_) if known is None else known
        # The threshold has no meaningful unit before the first score.
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

    def rest(self, scores: Floats, resting: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Return (n,) all False and add to the budget of nodes that rest (default all): their scores do not count.

        >>> moved = Threshold(1, downtime=0.5)
        >>> before = float(moved.left[0])
        >>> moved.rest(np.array([9.0])).tolist(), float(moved.left[0]) - before
        ([False], 0.5)
        """
        if self.downtime is not None:
            more = np.minimum(self.left + self.downtime, self.most)
            self.left = more if resting is None else np.where(resting, more, self.left)
        return np.zeros(len(scores), np.bool_)
