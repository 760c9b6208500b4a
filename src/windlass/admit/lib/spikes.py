"""Spikes of projections: a streaming z-score, and the rejection signal that is made of it.

Source: van Brakel (2014), the detector that the Pronto paper cites. Its Algorithm 1 prints another one: it fills the
filters with raw values, and dampens spikes downwards only. A spike would so raise the mean and deviation that the next
ones are judged by, which the dampening is there to prevent.
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

#: No z-score is further from 0: a projection that stood still and then moves would have an infinite one.
_MOST = 20.0
#: Deviations below this part of a projection's size are rounding error.
_NOTHING = 1e-9

#: What is summed: spikes of -1, 0 or 1 as printed; their sizes, without signs; or z-scores.
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
    """Which projections of each node jump, one step after the other.

    Parameters
    ----------
    nodes, axes
        How many nodes, and how many projections each has at most.
    lag
        Over how many filtered values mean and deviation are taken.
    alpha
        A spike is so many standard deviations away from the mean.
    beta
        How much of a spike enters the filtered signal, 0 to 1.

    signal
        What of the projections is summed, each times its weight; one of :data:`SIGNALS`.

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
        #: The weighted sum of each node, and whether its filter was full, so that the sum says something.
        self.total: Floats = np.zeros(nodes)
        self.ready: NDArray[np.bool_] = np.zeros(nodes, np.bool_)

    def step(
        self, projections: Floats, weights: Floats, ranks: NDArray[np.int64], present: NDArray[np.int64]
    ) -> None:
        """Take in a step.

        Parameters
        ----------
        projections, weights
            (n, axes); what each counts in the sum.
        ranks
            (n,) how many of them each node has.
        present
            (n,) 0 for nodes of which nothing came; the others are as they were.
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
        """Go on in a new basis: (n, axes, axes) takes filtered values from the old one into it.

        Without this, a basis of which a sign or the order has changed would make every projection jump. Projections
        on directions that are new begin anew.
        """
        lag, axes = self.window.shape[2], self.window.shape[1]
        count = np.minimum(self.filled, lag)
        # The oldest value first, so that values of one step can be combined.
        order = np.arange(lag) + np.where(self.filled >= lag, self.filled, 0)[:, :, None]
        in_time = np.take_along_axis(self.window, order % lag, axis=2)
        held = np.arange(axes) < ranks[:, None]
        first = count[:, :1]
        # Projections that were begun at different steps cannot be combined, and begin again together.
        alike = ((count == first) | ~held | grown).all(axis=1, keepdims=True)
        self.window = np.ascontiguousarray(turned @ in_time)
        self.filled = np.where(alike & held & ~grown, first, 0)

    def restart(self) -> None:
        """Forget all values: after a gap the last ones say nothing of the next."""
        self.filled[:] = 0
