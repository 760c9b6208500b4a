"""Paired differences: Student's confidence interval of their mean, and a test for correlated neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.statistics import LEVEL, student_half_width


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """A mean difference of ``count`` pairs, and its confidence interval from ``low`` to ``high``.

    ``correlated`` is True if neighbouring pairs are correlated, so that fewer than ``count`` of them are independent
    and the true interval may be wider.
    """

    mean: float
    low: float
    high: float
    count: int
    correlated: bool = False

    @property
    def excludes_zero(self) -> bool:
        """True if the difference is significant: both bounds are above 0, or both below.

        >>> bounds = ((1.0, -1.0, 3.0), (2.0, 1.0, 3.0), (0.0, 0.0, 0.0))
        >>> [ConfidenceInterval(*each, 5).excludes_zero for each in bounds]
        [False, True, False]
        """
        return self.low > 0 or self.high < 0


def paired_interval(
    differences: NDArray[np.float64], level: float = LEVEL, centre: float | None = None
) -> ConfidenceInterval | None:
    """Return Student's confidence interval of the mean of paired differences.

    Parameters
    ----------
    differences
        (n,) one per pair: a seed, or a block of jobs.
    level
        Confidence level.
    centre
        Centre of the interval; by default, the mean of the differences. The jackknife's pseudo-values of a percentile
        spread about the percentile itself, which may be far from their mean.

    Returns
    -------
    ConfidenceInterval or None
        None for fewer than two pairs, or if a difference is not finite.

    Examples
    --------
    >>> found = paired_interval(np.array([1.0, 2.0, 3.0]))
    >>> round(found.low, 4), round(found.high, 4), found.excludes_zero
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
    """Return the lag-1 autocorrelation: of each value with the next; 0 if all values are equal.

    Examples
    --------
    >>> round(lag_one(np.array([1.0, 2.0, 3.0, 4.0])), 4), lag_one(np.ones(3))
    (0.25, 0.0)
    """
    off = values - values.mean()
    square = float((off**2).sum())
    return float((off[1:] * off[:-1]).sum()) / square if square > 0 else 0.0


def neighbours_correlated(values: NDArray[np.float64]) -> bool:
    """Return whether neighbours are positively correlated, by a one-sided test at the 5 % level.

    About one in twenty series of independent values is reported as correlated.

    Parameters
    ----------
    values
        (n,) values in order of time.

    Examples
    --------
    >>> neighbours_correlated(np.arange(20.0)), neighbours_correlated(np.array([1.0, -1.0] * 10))
    (True, False)

    Source: Bartlett, "On the theoretical specification and sampling properties of autocorrelated time-series",
    Supplement to the JRSS 8 (1946): the correlation of n independent values has a standard deviation of about 1/√n.
    """
    return lag_one(values) > 1.645 / math.sqrt(len(values))
