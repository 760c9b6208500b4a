"""Streaming scaling of metrics by their mean and deviation, and projection of the scaled values.

Every value of every node and metric is treated alike, using only earlier values:

- It is scaled by the mean and standard deviation of the steps before, and clipped.
- NaN and infinity are missing values: the metric counts as at its mean, and its statistics do not change.
- A metric that does not vary is at its mean. At its first change its scale is still unknown, so it is at its mean once
  more; from then on it is scaled.
- A metric that appears late is counted from its first value on.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.jit.schema import allocate, column, numba_type

Floats = NDArray[np.float64]

#: Standard deviations below this fraction of a metric's mean are rounding error of a constant.
_NOTHING = 1e-9


class Scaling(NamedTuple):
    """Running mean and deviation of each metric of each node, and what a step writes."""

    seen: Annotated[Floats, column("nodes", "metrics")]  # values of each metric so far
    mean: Annotated[Floats, column("nodes", "metrics")]
    variance: Annotated[Floats, column("nodes", "metrics")]
    memory: float  # older steps count less after this many
    clip: float  # largest scaled value
    blocks: Annotated[Floats, column("nodes", "block", "metrics")]  # scaled values
    basis: Annotated[Floats, column("nodes", "metrics", "axes")]  # directions to project on
    ranks: Annotated[NDArray[np.int64], column("nodes")]  # directions in use
    projections: Annotated[Floats, column("nodes", "axes")]
    present: Annotated[NDArray[np.int64], column("nodes")]  # values of the last step


SCALE = types.int64(types.float64[:, ::1], types.int64, numba_type(Scaling))


def _scale(values, at, scaling):
    seen, mean, variance, basis = scaling.seen, scaling.mean, scaling.variance, scaling.basis
    memory, clip, blocks = scaling.memory, scaling.clip, scaling.blocks
    ranks, projections, present = scaling.ranks, scaling.projections, scaling.present
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
            # A plain mean over the first `memory` steps, and an exponential one from then on.
            gain = max(1.0 / count, 1.0 / memory)
            step = gain * off
            mean[node, metric] += step
            variance[node, metric] = (1.0 - gain) * (variance[node, metric] + off * step)
        present[node] = known
        whole += known
    return whole


#: Scale (n, d) values into row `at` of (n, b, d) blocks and project them; return the number of finite values.
SCALED = Kernel(_scale, SCALE, allocates=False)


def scaled_block(values: np.ndarray, memory: float = np.inf, clip: float = np.inf) -> np.ndarray:
    """Scale the rows of a table in order, each by the rows above it.

    Parameters
    ----------
    values
        (t, d).
    memory
        Number of steps after which older ones lose weight.
    clip
        Greatest absolute scaled value.

    Examples
    --------
    >>> scaled_block(np.array([[1.0], [3.0], [2.0], [4.0], [np.nan]])).ravel().round(3).tolist()
    [0.0, 0.0, 0.0, 2.449, 0.0]
    """
    sizes = {"nodes": 1, "metrics": values.shape[1], "block": 1, "axes": 1}
    scaling = allocate(Scaling, sizes, memory=float(memory), clip=float(clip))
    rows = []
    for row in np.ascontiguousarray(values, np.float64):
        SCALED.ready()(row[None], 0, scaling)
        rows.append(scaling.blocks[0, 0].copy())
    return np.array(rows)
