"""A statistic of values without each of several blocks of them, without a new selection for each block."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def means_without(values: _Floats, edges: _Ints) -> _Floats:
    """Return the mean of the values outside each block; NaN values do not count.

    Parameters
    ----------
    values
        (n,) values in order.
    edges
        (g + 1,) the indices at which blocks begin, and n.

    Returns
    -------
    (g,) float64; NaN for a block without which no value is left.

    Examples
    --------
    >>> means_without(np.array([1.0, 3.0, 5.0, 9.0]), np.array([0, 2, 4])).tolist()
    [7.0, 2.0]
    """
    parts = (np.concatenate((values[:low], values[high:])) for low, high in itertools.pairwise(edges))
    known = (part[~np.isnan(part)] for part in parts)
    return np.array([float(part.mean()) if len(part) else np.nan for part in known])


def percentiles_without(values: _Floats, edges: _Ints, share: float) -> _Floats:
    """Return a percentile of the values outside each block, as ``numpy.percentile`` interpolates; NaN does not count.

    Parameters
    ----------
    values, edges
        As for :func:`means_without`.
    share
        The percentile, 0 to 100.

    Examples
    --------
    >>> percentiles_without(np.array([1.0, 3.0, 5.0, 9.0]), np.array([0, 2, 4]), 50.0).tolist()
    [7.0, 2.0]
    """
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    ranked = values[order]
    block = (np.searchsorted(edges, order, side="right") - 1).astype(np.int32)
    sizes = np.bincount(block, minlength=len(edges) - 1)
    return np.array([_without(ranked, block, number, int(size), share) for number, size in enumerate(sizes)])


def _without(ranked: _Floats, block: NDArray[np.int32], number: int, size: int, share: float) -> float:
    """Return the percentile of sorted values without those of one block."""
    left = len(ranked) - size
    if left == 0:
        return np.nan
    place = (left - 1) * (share / 100.0)
    low = int(np.floor(place))
    # The value of rank r without the block has at most `size` more values before it.
    window = slice(low, min(low + size + 2, len(ranked)))
    before = low - int(np.count_nonzero(block[:low] == number))
    others = np.flatnonzero(block[window] != number)
    first = ranked[low + others[low - before]]
    second = ranked[low + others[low - before + 1]] if low + 1 < left else first
    # numpy.percentile interpolates in this way, so that results are equal to the last bit.
    part, step = place - low, second - first
    return float(second - step * (1.0 - part) if part >= 0.5 else first + step * part)
