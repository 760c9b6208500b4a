"""Paired differences: Student's interval of their mean, and whether neighbours are alike."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.statistics import LEVEL, student_half_width


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """A mean difference and the interval that holds it, of ``count`` pairs.

    ``alike`` is True if neighbouring pairs are correlated, so that fewer of them are independent than were counted.
    """

    mean: float
    low: float
    high: float
    count: int
    alike: bool = False

    @property
    def apart(self) -> bool:
        """Whether the interval is on one side of 0.

        >>> bounds = ((1.0, -1.0, 3.0), (2.0, 1.0, 3.0), (0.0, 0.0, 0.0))
        >>> [ConfidenceInterval(*each, 5).apart for each in bounds]
        [False, True, False]
        """
        return self.low > 0 or self.high < 0


def paired_interval(
    differences: NDArray[np.float64], level: float = LEVEL, centre: float | None = None
) -> ConfidenceInterval | None:
    """Student's interval of the mean of paired differences.

    Parameters
    ----------
    differences
        (n,) one a pair: a seed, or a block of jobs.
    level
        With which probability it holds.
    centre
        What the interval is around; by default, the mean of the differences. The jackknife's values of a percentile
        spread about the percentile itself, from which their mean may be far.

    Returns
    -------
    ConfidenceInterval or None
        None for fewer than two pairs, or where one is not finite.

    Examples
    --------
    >>> found = paired_interval(np.array([1.0, 2.0, 3.0]))
    >>> round(found.low, 4), round(found.high, 4), found.apart
    (-0.4841, 4.4841, False)

    Source: Student, "The probable error of a mean", Biometrika 6 (1908).
    """
    count = len(differences)
    if count < 2 or not np.isfinite(differences).all():
        return None
    mean = float(differences.mean()) if centre is None else centre
    half = student_half_width(differences, level, mean)
    return ConfidenceInterval(mean, mean - half, mean + half, count)


def lag_one(values: NDArray[np.float64]) -> float:
    """The correlation of each value with the next one; 0 where all are the same.

    Examples
    --------
    >>> round(lag_one(np.array([1.0, 2.0, 3.0, 4.0])), 4), lag_one(np.ones(3))
    (0.25, 0.0)
    """
    off = values - values.mean()
    square = float((off**2).sum())
    return float((off[1:] * off[:-1]).sum()) / square if square > 0 else 0.0


def neighbours_alike(values: NDArray[np.float64]) -> bool:
    """Whether neighbours are more alike than 1 in 20 rows of independent values would have it.

    Parameters
    ----------
    values
        (n,) in order of time.

    Examples
    --------
    >>> neighbours_alike(np.arange(20.0)), neighbours_alike(np.array([1.0, -1.0] * 10))
    (True, False)

    Source: Bartlett, "On the theoretical specification and sampling properties of autocorrelated time-series",
    Supplement to the JRSS 8 (1946): the correlation of n independent values has a standard deviation of about 1/√n.
    """
    return lag_one(values) > 1.645 / math.sqrt(len(values))
