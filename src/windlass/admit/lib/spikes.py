"""Spikes of projections: a streaming z-score, and the rejection signal computed from it.

Source: van Brakel (2014), the detector that the Pronto paper cites. The paper's Algorithm 1 differs: it fills the
filters with raw values, and dampens spikes downwards only. A spike would then raise the mean and deviation against
which the next ones are compared, which the dampening is meant to prevent.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.admit.lib.subspace import Floats
from windlass.jit import Kernel
from windlass.jit.schema import column, numba_type
from windlass.model import InputError
from windlass.model.values import number, whole

_matrix, _counts = types.float64[:, ::1], types.int64[::1]

#: Greatest absolute z-score: a projection that was constant and then changes would have an infinite one.
_MOST = 20.0
#: Deviations below this fraction of a projection's size are rounding error.
_NOTHING = 1e-9

#: Quantities summed: spikes of -1, 0 or 1 as printed; their absolute values; or z-scores.
SIGNALS = ("spikes", "absolute", "scores")


class Detector(NamedTuple):
    """Filtered projections of each node, and what a step writes."""

    window: Annotated[Floats, column("nodes", "axes", "lag")]  # the last filtered values
    filled: Annotated[NDArray[np.int64], column("nodes", "axes")]  # values so far
    alpha: float  # a spike is this many deviations from the mean
    beta: float  # weight of a spike in the filtered value
    signal: int  # index into SIGNALS
    spikes: Annotated[NDArray[np.int64], column("nodes", "axes")]
    scores: Annotated[Floats, column("nodes", "axes")]
    total: Annotated[Floats, column("nodes")]
    ready: Annotated[NDArray[np.bool_], column("nodes")]


#: projections, weights, ranks, present, detector
DETECT = types.int64(_matrix, _matrix, _counts, _counts, numba_type(Detector))


def _detect(projections, weights, ranks, present, detector):
    window, filled, alpha, beta = detector.window, detector.filled, detector.alpha, detector.beta
    spikes, scores, total, ready = detector.spikes, detector.scores, detector.total, detector.ready
    nodes, axes, lag = window.shape
    found = 0
    for node in range(nodes):
        total[node], ready[node] = 0.0, False
        for axis in range(axes):
            spikes[node, axis] = 0
            scores[node, axis] = 0.0
            if axis >= ranks[node] or present[node] == 0:
                continue
            value = projections[node, axis]
            count = filled[node, axis]
            kept = value
            if count >= lag:
                ready[node] = True
                mean = 0.0
                for at in range(lag):
                    mean += window[node, axis, at]
                mean /= lag
                square = 0.0
                for at in range(lag):
                    square += (window[node, axis, at] - mean) ** 2
                spread = math.sqrt(square / lag)
                off = value - mean
                floor = _NOTHING * (1.0 + abs(mean))
                if abs(off) > floor:
                    scores[node, axis] = min(_MOST, max(-_MOST, off / max(spread, floor)))
                if abs(off) > alpha * spread and abs(off) > floor:
                    spikes[node, axis] = 1 if off > 0.0 else -1
                    kept = beta * value + (1.0 - beta) * window[node, axis, (count - 1) % lag]
                    found += 1
                if detector.signal == 2:
                    total[node] += weights[node, axis] * scores[node, axis]
                elif detector.signal == 1:
                    total[node] += weights[node, axis] * abs(spikes[node, axis])
                else:
                    total[node] += weights[node, axis] * spikes[node, axis]
            window[node, axis, count % lag] = kept
            filled[node, axis] = count + 1
    return found


DETECTED = Kernel(_detect, DETECT, allocates=False)


class Spikes:
    """Detector of spikes in the projections of each node, step by step.

    Parameters
    ----------
    nodes, axes
        Number of nodes, and greatest number of projections of each.
    lag
        Number of filtered values over which mean and deviation are taken.
    alpha
        Number of standard deviations from the mean at which a value is a spike.
    beta
        Share of a spike that enters the filtered signal, 0 to 1.

    signal
        Quantity of the projections that is summed with their weights; one of :data:`SIGNALS`.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> detector, one = Spikes(1, 1, lag=4), np.ones(1, np.int64)
    >>> for value in (1.0, 2.0, 1.0, 2.0, 9.0):
    ...     detector.step(np.array([[value]]), np.array([[0.5]]), one, one)
    >>> detector.spikes.tolist(), detector.scores.tolist(), detector.total.tolist()
    ([[1]], [[15.0]], [0.5])
    """

    def __init__(
        self,
        nodes: int,
        axes: int,
        lag: int = 10,
        alpha: float = 3.5,
        beta: float = 0.5,
        signal: str = "spikes",
    ) -> None:
        self.alpha, self.beta = number("alpha", alpha, 0.0), number("beta", beta, 0.0, 1.0)
        if signal not in SIGNALS:
            raise InputError(f"signal is {signal!r}, expected one of {', '.join(SIGNALS)}")
        self.signal = SIGNALS.index(signal)
        self.window: Floats = np.zeros((nodes, axes, whole("lag", lag, 2)))
        self.filled: NDArray[np.int64] = np.zeros((nodes, axes), np.int64)
        self.spikes: NDArray[np.int64] = np.zeros((nodes, axes), np.int64)
        self.scores: Floats = np.zeros((nodes, axes))
        #: The weighted sum of each node, and whether its filter was full, without which the sum is meaningless.
        self.total: Floats = np.zeros(nodes)
        self.ready: NDArray[np.bool_] = np.zeros(nodes, np.bool_)

    def step(
        self, projections: Floats, weights: Floats, ranks: NDArray[np.int64], present: NDArray[np.int64]
    ) -> None:
        """Process one step.

        Parameters
        ----------
        projections, weights
            (n, axes) projections, and their weights in the sum.
        ranks
            (n,) number of projections of each node.
        present
            (n,) 0 for nodes without measurements, whose filters do not change.
        """
        detector = Detector(
            self.window,
            self.filled,
            self.alpha,
            self.beta,
            self.signal,
            self.spikes,
            self.scores,
            self.total,
            self.ready,
        )
        DETECTED.entry()(projections, weights, ranks, present, detector)

    def turn(self, turned: Floats, ranks: NDArray[np.int64], grown: NDArray[np.bool_]) -> None:
        """Change to a new basis: (n, axes, axes) converts filtered values from the old one.

        Without this, a change of sign or order in a basis would make every projection jump. Projections
        on new directions start with empty filters.
        """
        lag, axes = self.window.shape[2], self.window.shape[1]
        count = np.minimum(self.filled, lag)
        # Oldest value first, so that values of the same step are combined.
        order = np.arange(lag) + np.where(self.filled >= lag, self.filled, 0)[:, :, None]
        in_time = np.take_along_axis(self.window, order % lag, axis=2)
        held = np.arange(axes) < ranks[:, None]
        first = count[:, :1]
        # Projections whose filters started at different steps cannot be combined, and restart together.
        alike = ((count == first) | ~held | grown).all(axis=1, keepdims=True)
        self.window = np.ascontiguousarray(turned @ in_time)
        self.filled = np.where(alike & held & ~grown, first, 0)

    def restart(self) -> None:
        """Discard all filtered values: after a gap they do not predict the next ones."""
        self.filled[:] = 0
