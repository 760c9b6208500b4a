"""Thresholds on scores: fixed, or moved so that a node rejects for the share of time that the user allows."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.admit.lib.subspace import Floats
from windlass.jit import Kernel, inlined
from windlass.jit.schema import column, numba_type
from windlass.model import InputError
from windlass.model.values import number

#: Step of a threshold, in mean deviations of scores from it; after a rejection it moves up by nearly that.
_GAIN = 0.1
#: Smoothing factor of the mean deviation.
_SLOW = 0.01
#: Relative rounding error of a score that is compared with a threshold.
_ROUNDING = 1e-12
#: Attributes of a threshold that are saved.
THRESHOLD_FIELDS = ("level", "scale", "seen", "left")
#: Number of steps whose downtime can be saved up and spent at once.
SAVED = 1000.0


class ThresholdState(NamedTuple):
    """Thresholds of n nodes as arrays."""

    level: Annotated[Floats, column("nodes")]  # the thresholds
    scale: Annotated[Floats, column("nodes")]  # mean deviation of scores from them
    seen: Annotated[NDArray[np.int64], column("nodes")]  # scores so far
    left: Annotated[Floats, column("nodes")]  # budget of high scores
    moves: int  # 0 for constant thresholds, 1 for thresholds that keep to a downtime
    downtime: float
    most: float  # most of the budget
    gain: float


THRESHOLD = numba_type(ThresholdState)


@inlined
def is_high(state, node, score):
    """Return whether a score is high, and move the threshold."""
    if state.moves == 0:
        # Weights that should sum to 1 may sum to a little less.
        return score >= state.level[node] - _ROUNDING * abs(state.level[node])
    # The threshold has no meaningful unit before the first score.
    level = score if state.seen[node] == 0 else state.level[node]
    # Scores that are equal but for rounding are not above it, as scores that are equal are not.
    above = score > level + _ROUNDING * abs(level)
    high = above and state.left[node] >= 1.0
    state.left[node] = min(state.left[node] + state.downtime, state.most) - (1.0 if high else 0.0)
    slow = max(_SLOW, 1.0 / (state.seen[node] + 1))
    state.scale[node] = state.scale[node] + slow * (abs(score - level) - state.scale[node])
    aim = state.downtime * (0.5 + state.left[node] / state.most)
    state.level[node] = level + state.gain * state.scale[node] * ((1.0 if above else 0.0) - aim)
    state.seen[node] += 1
    return high


@inlined
def add_rest(state, node):
    """Add to the budget of a node that rests."""
    if state.moves != 0:
        state.left[node] = min(state.left[node] + state.downtime, state.most)


def _above(state, scores, known, high):
    for node in range(len(scores)):
        high[node] = known[node] and is_high(state, node, scores[node])
    return 0


def _rest(state, resting):
    for node in range(len(resting)):
        if resting[node]:
            add_rest(state, node)
    return 0


_FLAGS = types.boolean[::1]
ABOVE = Kernel(_above, types.int64(THRESHOLD, types.float64[::1], _FLAGS, _FLAGS), allocates=False)
REST = Kernel(_rest, types.int64(THRESHOLD, _FLAGS), allocates=False)


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
        if downtime is not None and not 0.0 < downtime < 1.0:
            raise InputError(f"downtime is {downtime}, expected a share of time between 0 and 1")
        # At least 1, so that even the smallest downtime can be spent.
        most = 1.0 if downtime is None else max(1.0, downtime * SAVED)
        #: What compiled code reads and changes.
        self.state = ThresholdState(
            np.full(nodes, number("threshold", value, -np.inf)),
            np.zeros(nodes),
            np.zeros(nodes, np.int64),
            np.full(nodes, most / 2.0),
            int(downtime is not None),
            0.0 if downtime is None else float(downtime),
            most,
            float(gain),
        )
        self.downtime, self.most = downtime, most

    def above(self, scores: Floats, known: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Return (n,) which scores are high, and move the thresholds of those that are ``known`` (default all)."""
        count = self._count(scores)
        high, counted = np.zeros(count, np.bool_), np.ones(count, np.bool_) if known is None else known
        ABOVE.entry()(self.state, np.ascontiguousarray(scores, np.float64), counted, high)
        return high

    def rest(self, scores: Floats, resting: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Return (n,) all False and add to the budget of nodes that rest (default all): their scores do not count.

        >>> moved = Threshold(1, downtime=0.5)
        >>> before = float(moved.left[0])
        >>> moved.rest(np.array([9.0])).tolist(), float(moved.left[0]) - before
        ([False], 0.5)
        """
        count = self._count(scores)
        REST.entry()(self.state, np.ones(count, np.bool_) if resting is None else resting)
        return np.zeros(count, np.bool_)

    def _count(self, scores: Floats) -> int:
        nodes = len(self.state.level)
        if len(scores) != nodes:
            raise InputError(f"there are {len(scores)} scores, expected one for each of {nodes} nodes")
        return nodes

    @property
    def level(self) -> Floats:
        """(n,) the thresholds."""
        return self.state.level

    @level.setter
    def level(self, values: Floats) -> None:
        self.state.level[:] = values

    @property
    def scale(self) -> Floats:
        """(n,) mean deviation of scores from the thresholds."""
        return self.state.scale

    @scale.setter
    def scale(self, values: Floats) -> None:
        self.state.scale[:] = values

    @property
    def seen(self) -> NDArray[np.int64]:
        """(n,) number of scores so far."""
        return self.state.seen

    @seen.setter
    def seen(self, values: NDArray[np.int64]) -> None:
        self.state.seen[:] = values

    @property
    def left(self) -> Floats:
        """(n,) budget of high scores that is left."""
        return self.state.left

    @left.setter
    def left(self, values: Floats) -> None:
        self.state.left[:] = values
