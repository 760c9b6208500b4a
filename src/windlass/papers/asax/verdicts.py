"""Whether one policy does better than another: over seeds, beyond what chance does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

#: Intervals are of so much certainty.
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and half the width of its 95 % interval."""

    mean: float
    half: float

    def __str__(self) -> str:
        return f"{self.mean:.3g} ± {self.half:.2g}"


def interval(values: NDArray[np.float64]) -> Interval:
    """The mean over seeds by Student's t; of one seed nobody knows how sure it is.

    >>> interval(np.array([1.0, 2.0, 3.0])).mean
    2.0
    """
    if len(values) < 2:
        return Interval(float(values.mean()), float("inf"))
    half = student.ppf(0.5 + _LEVEL / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return Interval(float(values.mean()), float(half))


def is_lower(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> bool:
    """Whether ours is lower than theirs on the same seeds: the interval of the differences lies below 0.

    >>> base = np.array([1.0, 2.0, 3.0])
    >>> is_lower(base - 0.5, base), is_lower(base, base), is_lower(base + 0.5, base)
    (True, False, False)
    """
    difference = interval(ours - theirs)
    return difference.mean + difference.half < 0.0


def is_at_most(ours: NDArray[np.float64], theirs: NDArray[np.float64], times: float) -> bool:
    """Whether the mean of ours is at most so many times that of theirs.

    >>> is_at_most(np.array([1.09]), np.array([1.0]), 1.1), is_at_most(np.array([1.11]), np.array([1.0]), 1.1)
    (True, False)
    """
    return bool(ours.mean() <= times * theirs.mean())


def is_at_least(ours: NDArray[np.float64], theirs: NDArray[np.float64], times: float) -> bool:
    """Whether the mean of ours is at least so many times that of theirs.

    >>> is_at_least(np.array([1.5]), np.array([1.0]), 1.5), is_at_least(np.array([1.49]), np.array([1.0]), 1.5)
    (True, False)
    """
    return bool(ours.mean() >= times * theirs.mean())
