"""Whether one is better than another: over machines, or blocks of time, beyond chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.admit.evaluation import Difference, Intervals
from windlass.admit.measure import Quality
from windlass.papers.verdicts import is_lower as lower

Floats = NDArray[np.float64]

#: Of fewer onsets nothing is concluded.
FEW = 20


def is_lower(ours: Floats, theirs: Floats) -> bool | None:
    """Whether ours is lower than theirs on the same machines: the 95 % interval of relative differences is below 0.

    None where 0 is within it, or fewer than two machines tell.

    >>> base = np.array([1.0, 2.0, 3.0])
    >>> is_lower(0.7 * base + 0.01, base), is_lower(base, base), is_lower(1.3 * base, base), is_lower(base[::-1], base)
    (True, False, False, None)
    """
    known = theirs > 0
    return lower(ours[known] / theirs[known], np.ones(known.sum())) if known.any() else None


def is_nearer(ours: Floats, theirs: Floats) -> bool | None:
    """Whether forecasts are nearer than others of the same values: the 95 % interval of differences of squares.

    Parameters
    ----------
    ours, theirs
        (k,) what each was off by.

    Returns
    -------
    bool or None
        None where the interval has both signs, or there are fewer than two.

    Examples
    --------
    >>> off = np.array([1.0, -2.0, 3.0, -1.5, 2.5])
    >>> is_nearer(0.2 * off, off), is_nearer(off, 0.2 * off), is_nearer(off, off[::-1])
    (True, False, None)
    """
    return lower(ours**2, theirs**2) if len(ours) > 1 else None


def is_about(ours: float, theirs: float, within: float) -> bool:
    """Whether two are alike, up to so large a share of the second.

    >>> is_about(1.1, 1.0, 0.15), is_about(1.2, 1.0, 0.15), is_about(0.8, 1.0, 0.15)
    (True, False, False)
    """
    return abs(ours - theirs) <= within * abs(theirs)


def rises(values: Sequence[float]) -> bool:
    """Whether the last third is higher than the first third, on average.

    >>> rises([1.0, 1.2, 0.9, 2.0, 3.0, 2.5]), rises([3.0, 2.0, 1.0])
    (True, False)
    """
    third = max(1, len(values) // 3)
    return float(np.mean(values[-third:])) > float(np.mean(values[:third]))


def beats_chance(found: Quality, sure: Intervals) -> bool | None:
    """Whether a signal's recall is above that of scattered steps and of its own shifted copy, beyond chance.

    None where there are so few onsets that nobody knows.

    >>> none = (0.0, 0.0)
    >>> found = Quality(90, 0.9, 0.05, 0.4, 0.3, 0.5, 0.5, 4.0, 81, 0)
    >>> beats_chance(found, Intervals(none, (0.1, 0.2), (0.3, 0.4), none, 0.5))
    True
    >>> beats_chance(found, Intervals(none, (-0.1, 0.2), (0.3, 0.4), none, 0.5))
    False
    >>> beats_chance(found, Intervals(none, (0.1, 0.2), (-0.3, 0.4), none, 0.5))
    False
    >>> few = Quality(2, 1.0, 0.05, 0.4, 0.3, 0.5, 0.5, 4.0, 2, 0)
    >>> beats_chance(few, Intervals(none, (0.1, 0.2), (0.3, 0.4), none, 0.5))
    """
    if found.onsets < FEW:
        return None
    return sure.over_shifted[0] > 0.0 and sure.over_chance[0] > 0.0


def foresees_nearly_all(found: Quality, sure: Intervals) -> bool | None:
    """Whether nearly all onsets (9 of 10) have a raise before them, and that is more than chance has; None as above.

    >>> none, above = (0.0, 0.0), (0.1, 0.2)
    >>> sure = Intervals(none, above, above, none, 0.01)
    >>> foresees_nearly_all(Quality(90, 0.95, 0.05, 0.4, 0.3, 0.5, 0.5, 4.0, 86, 0), sure)
    True
    >>> foresees_nearly_all(Quality(90, 0.5, 0.05, 0.4, 0.3, 0.5, 0.5, 4.0, 45, 0), sure)
    False
    """
    beats = beats_chance(found, sure)
    return None if beats is None else bool(found.recall >= 0.9 and beats)


def is_ahead(found: Quality, beside: Difference | None) -> bool | None:
    """Whether a signal foresees more onsets than another; None where there are few, or nobody knows.

    >>> found = Quality(90, 0.95, 0.05, 0.4, 0.3, 0.5, 0.5, 4.0, 86, 0)
    >>> pairs = ((0.1, 0.3), (-0.3, -0.1), (-0.1, 0.1))
    >>> [is_ahead(found, Difference(0.0, pair)) for pair in pairs], is_ahead(found, None)
    ([True, False, None], None)
    >>> is_ahead(Quality(9, 0.95, 0.05, 0.4, 0.3, 0.5, 0.5, 4.0, 8, 0), Difference(0.2, pairs[0]))
    """
    return None if beside is None or found.onsets < FEW else beside.proven
