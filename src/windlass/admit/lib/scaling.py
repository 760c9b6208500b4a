"""Metrics on one scale: a streaming mean and variance of each, whatever comes, and the projections of what came.

What happens to a value is the same for every node and metric, with only what came before it:

- It is scaled by the mean and standard deviation of the steps before, and clipped.
- NaN and infinity are no value: the metric counts as at its mean, and what is known of it stays.
- A metric that does not vary is at its mean. At its first change its scale is still unknown, so it is at its mean once
  more; from then on it has one.
- A metric that appears late begins to be counted when it appears.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from windlass.jit import Kernel

_matrix, _row = types.float64[:, ::1], types.float64[::1]
_cube, _counts = types.float64[:, :, ::1], types.int64[::1]

#: Standard deviations below this part of a metric's size are rounding error of a constant.
_NOTHING = 1e-9

#: values, seen, mean, variance, memory, clip, blocks, at, basis, ranks, projections, present
SCALE = types.int64(
    _matrix,
    _matrix,
    _matrix,
    _matrix,
    types.float64,
    types.float64,
    _cube,
    types.int64,
    _cube,
    _counts,
    _matrix,
    _counts,
)


def _scale(values, seen, mean, variance, memory, clip, blocks, at, basis, ranks, projections, present):
    nodes, dim = values.shape
    whole = 0
    for node in range(nodes):
        known = 0
        rank = ranks[node]
        for axis in range(projections.shape[1]):
            projections[node, axis] = 0.0
        for metric in range(dim):
            value = values[node, metric]
            blocks[node, at, metric] = 0.0
            if not math.isfinite(value):
                continue
            known += 1
            count = seen[node, metric] + 1.0
            seen[node, metric] = count
            off = value - mean[node, metric]
            spread = math.sqrt(variance[node, metric])
            if spread > _NOTHING * abs(mean[node, metric]):
                unit = min(clip, max(-clip, off / spread))
                blocks[node, at, metric] = unit
                for axis in range(rank):
                    projections[node, axis] += unit * basis[node, metric, axis]
            # Of all steps until there are `memory` of them, and from then on the older count less and less.
            gain = max(1.0 / count, 1.0 / memory)
            step = gain * off
            mean[node, metric] += step
            variance[node, metric] = (1.0 - gain) * (variance[node, metric] + off * step)
        present[node] = known
        whole += known
    return whole


#: Scales (n, d) values into row `at` of (n, b, d) blocks, and projects them. Returns how many there were.
SCALED = Kernel(_scale, SCALE, allocates=False)


def scaled_block(values: np.ndarray, memory: float = np.inf, clip: float = np.inf) -> np.ndarray:
    """The rows of a table one after the other, each scaled by the rows above it.

    Parameters
    ----------
    values
        (t, d).
    memory
        After so many steps the older count less.
    clip
        No scaled value is further from 0.

    Examples
    --------
    >>> scaled_block(np.array([[1.0], [3.0], [2.0], [4.0], [np.nan]])).ravel().round(3).tolist()
    [0.0, 0.0, 0.0, 2.449, 0.0]
    """
    dim = values.shape[1]
    seen, mean, variance = (np.zeros((1, dim)) for _ in range(3))
    blocks, basis, projections = np.zeros((1, 1, dim)), np.zeros((1, dim, 1)), np.zeros((1, 1))
    ranks, present = np.zeros(1, np.int64), np.zeros(1, np.int64)
    rows = []
    for row in np.ascontiguousarray(values, np.float64):
        SCALED.ready()(
            row[None], seen, mean, variance, memory, clip, blocks, 0, basis, ranks, projections, present
        )
        rows.append(blocks[0, 0].copy())
    return np.array(rows)
