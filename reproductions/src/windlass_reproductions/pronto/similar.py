"""Groups of similar machines: five distances, and groups around medoids.

The paper names the distances, but not the number of groups, which is assumed to be four. It does not explain *Ordered*,
which is assumed to be the nearest quarter of all machines by Euclidean distance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GROUPS = 4
_LAGS = 10


def _scaled(series: Floats) -> Floats:
    spread = series.std(axis=1, keepdims=True)
    found: Floats = (series - series.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    return found


def _between(points: Floats) -> Floats:
    found: Floats = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    return found


def euclidean(series: Floats) -> Floats:
    """Return (m, m) the Euclidean distances between (m, t) series."""
    return _between(series)


def correlated(series: Floats) -> Floats:
    """Return distances by correlation: the root of 2 (1 − ρ)."""
    unit = _scaled(series)
    return np.asarray(np.sqrt(np.maximum(2.0 * (1.0 - unit @ unit.T / series.shape[1]), 0.0)))


def slopes(series: Floats) -> Floats:
    """Return distances between the differences of successive values (STS: short time series)."""
    return _between(np.diff(series, axis=1))


def temporal(series: Floats) -> Floats:
    """Return Euclidean distances weighted by the correlation of differences (CORT).

    The weight is 1 without correlation, 0.24 for equal and 1.76 for opposite differences.
    """
    steps = np.diff(series, axis=1)
    norm = np.linalg.norm(steps, axis=1)
    size = np.outer(norm, norm)
    along = np.where(size > 0, steps @ steps.T / np.where(size > 0, size, 1.0), 0.0)
    return np.asarray(_between(series) * 2.0 / (1.0 + np.exp(2.0 * along)))


def autocorrelated(series: Floats) -> Floats:
    """Return distances between autocorrelations."""
    unit = _scaled(series)
    lags = range(1, min(_LAGS, series.shape[1] - 1) + 1)
    return _between(np.stack([(unit[:, lag:] * unit[:, :-lag]).mean(axis=1) for lag in lags], axis=1))


#: Distances by their names in Table 2.
DISTANCES: dict[str, Callable[[Floats], Floats]] = {
    "KM Euclidean": euclidean,
    "KM Corr": correlated,
    "KM Sts": slopes,
    "KM Cort": temporal,
    "KM Acf": autocorrelated,
}


def medoids(distance: Floats, groups: int = GROUPS, rounds: int = 20) -> NDArray[np.int64]:
    """Return (m,) the group of each machine, from k-medoids that starts with machines far apart.

    >>> points = np.array([0.0, 1.0, 10.0, 11.0])
    >>> medoids(np.abs(points[:, None] - points), groups=2).tolist()
    [0, 0, 1, 1]
    """
    middle = [int(distance.sum(axis=1).argmin())]
    while len(middle) < min(groups, len(distance)):
        middle.append(int(distance[middle].min(axis=0).argmax()))
    chosen = np.array(middle)
    for _ in range(rounds):
        group = distance[chosen].argmin(axis=0)
        members = [np.flatnonzero(group == each) for each in range(len(chosen))]
        moved = np.array(
            [
                own[distance[np.ix_(own, own)].sum(axis=1).argmin()] if len(own) else chosen[place]
                for place, own in enumerate(members)
            ]
        )
        if (moved == chosen).all():
            break
        chosen = moved
    return np.asarray(np.unique(distance[chosen].argmin(axis=0), return_inverse=True)[1], np.int64)
