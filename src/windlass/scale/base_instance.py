"""The base instance of the paper: the smallest type that a series of instance types should have.

Source: "A Predictive Autoscaler for Elastic Batch Jobs", Section 4.4 and Figure 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.model import InputError
from windlass.scale.embedding import Embedding

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """The smallest useful type of a series.

    Parameters
    ----------
    smallest
        Index of the smallest type to keep, in the order of the given buckets.
    scale
        (s,) total weight that all snapshots need with all types, without the smallest, without the two
        smallest, and so on, while every job still fits on some type.
    """

    smallest: int
    scale: _Floats


def base_instance(
    snapshots: Sequence[ArrayLike], buckets: ArrayLike, weights: ArrayLike | None = None
) -> Base:
    """Drop the smallest type while that does not increase the scale (Figure 7).

    Parameters
    ----------
    snapshots
        Job vectors (n, r) that ran at the same time, one array for each instant.
    buckets
        (k, r) capacity of an instance of each type.
    weights
        (k,) what an instance of each type adds to the scale, for example its price. The default is its
        dominant share of the largest capacity of each resource. The paper does not define its scale.

    Returns
    -------
    Base
        The type and the scales: whole instances by weight, summed over snapshots.

    Raises
    ------
    InputError
        See :func:`embed`; or not exactly one weight above 0 for each type.

    Examples
    --------
    Jobs of one core on types of one, two and four cores: without the smallest type, a job occupies two cores.

    >>> base_instance([[[0, 1, 1]], [[0, 1, 1]] * 4], [[0, 1, 1], [0, 2, 2], [0, 4, 4]], [1, 2, 4]).scale.tolist()
    [5.0, 6.0, 8.0]
    """
    whole = Embedding(buckets)
    kinds = len(whole.buckets)
    if weights is None:
        most = whole.buckets.max(axis=0)
        weights = (whole.buckets / np.where(most > 0, most, 1.0)).max(axis=1)
    weight = np.asarray(weights, dtype=np.float64)
    if weight.shape != (kinds,) or not (np.isfinite(weight) & (weight > 0)).all():
        raise InputError(f"weights are {weight.tolist()}, expected {kinds} finite numbers above 0")
    scales = []
    for dropped in range(kinds):
        kept = whole.order[dropped:]
        some = Embedding(whole.buckets[kept], whole.resource)
        if dropped and not all(some.hosts(vectors).all() for vectors in snapshots):
            break
        scales.append(sum(float(np.ceil(some.counts(each) - 1e-9) @ weight[kept]) for each in snapshots))
    scale = np.array(scales)
    rises = np.flatnonzero(np.diff(scale) > 1e-9)
    return Base(int(whole.order[rises[0] if len(rises) else len(scale) - 1]), scale)
