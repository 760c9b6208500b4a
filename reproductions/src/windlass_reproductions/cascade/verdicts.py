"""Criteria of the thesis' claims: yes, no, or undecided.

Each considers a whole interval: that of a mean over seeds, or the bounds between which a value must lie. The verdict is
undecided if the interval includes the limit.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from windlass_reproductions.criteria import Judged, Within, below
from windlass_reproductions.verdicts import Interval, interval

#: The rule for a difference of means.
SIGNIFICANT = "holds if the difference is significant (95 % interval over the same draws)"


def over(values: Iterable[float]) -> Interval:
    """Return the mean over seeds with its 95 % interval.

    >>> str(over([1.0, 2.0, 3.0]))
    '2 ± 2.5'
    """
    return interval(np.array(list(values), dtype=np.float64))


def between(low: Iterable[float], high: Iterable[float]) -> Interval:
    """Return the range of a mean for which every seed gives two bounds.

    >>> found = between([0.9, 0.9], [1.0, 1.0])
    >>> round(found.low, 9), round(found.high, 9)
    (0.9, 1.0)
    """
    least, most = over(low).low, over(high).high
    if not np.isfinite(most - least):
        return Interval(float(np.mean([*low, *high])), np.inf)
    return Interval((least + most) / 2, (most - least) / 2)


def reaches(found: Interval | Iterable[Interval], limit: float) -> Judged:
    """Claim that one quantity, or each of several, is at least the limit.

    >>> [reaches(Interval(mean, 0.1), 2.0).holds for mean in (2.5, 1.5, 2.0)]
    [True, False, None]
    """
    return Judged(
        tuple(Within(each, low=limit) for each in _all(found)),
        f"holds if the whole range is {limit:g} or more",
    )


def stays(found: Interval | Iterable[Interval], limit: float) -> Judged:
    """Claim that one quantity, or each of several, is at most the limit.

    >>> [stays(Interval(mean, 0.1), 2.0).holds for mean in (2.5, 1.5, 2.0)]
    [False, True, None]
    """
    return Judged(
        tuple(Within(each, high=limit) for each in _all(found)),
        f"holds if the whole range is {limit:g} or less",
    )


def is_about(found: Interval | Iterable[Interval], printed: float, tolerance: float) -> Judged:
    """Claim that one quantity, or each of several, is the printed value within a tolerance.

    >>> [is_about(Interval(mean, 0.1), 2.0, 0.5).holds for mean in (1.6, 2.4, 2.5, 2.7, 1.0)]
    [True, True, None, False, False]
    """
    return Judged(
        tuple(Within(each, printed - tolerance, printed + tolerance) for each in _all(found)),
        f"holds if the whole range is within {tolerance:g} of {printed:g}",
    )


def is_less(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> Judged:
    """Claim that ours is less than theirs on the same draws, (s,) each.

    >>> base = np.array([1.0, 2.0, 3.0])
    >>> [is_less(each, base).holds for each in (base - 0.5, base, base + 0.5, base[::-1])]
    [True, False, False, None]
    """
    return below([over(ours - theirs)], rule=SIGNIFICANT)


def _all(found: Interval | Iterable[Interval]) -> tuple[Interval, ...]:
    return (found,) if isinstance(found, Interval) else tuple(found)


def largest_gap(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Return the largest distance between the CDFs of two samples (the Kolmogorov–Smirnov statistic).

    >>> largest_gap(np.array([1.0, 2.0]), np.array([1.0, 2.0])), largest_gap(np.array([1.0]), np.array([2.0]))
    (0.0, 1.0)
    """
    at = np.concatenate([ours, theirs])
    below = [np.searchsorted(np.sort(each), at, side="right") / len(each) for each in (ours, theirs)]
    return float(np.abs(below[0] - below[1]).max())
