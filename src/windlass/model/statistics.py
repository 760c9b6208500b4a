"""Student's confidence interval of a mean: quantile and half-width."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

#: Default confidence level.
LEVEL = 0.95


def student_quantile(freedom: int, level: float = LEVEL) -> float:
    """Return the quantile of Student's t distribution for a two-sided interval.

    Parameters
    ----------
    freedom
        Degrees of freedom, at least 1.
    level
        Confidence level of the interval, between 0 and 1.

    Examples
    --------
    >>> round(student_quantile(2), 4), round(student_quantile(10**9), 4)
    (4.3027, 1.96)
    """
    from scipy.special import stdtrit  # loads much, and many runs have no interval

    return float(stdtrit(freedom, (1.0 + level) / 2.0))


def student_half_width(
    values: NDArray[np.float64], level: float = LEVEL, centre: float | None = None
) -> float:
    """Return the half-width of Student's confidence interval of a mean.

    Parameters
    ----------
    values
        (n,) independent values, at least two.
    level
        Confidence level of the interval, between 0 and 1.
    centre
        The value from which deviations are measured; by default the mean.

    Examples
    --------
    >>> round(student_half_width(np.array([1.0, 2.0, 3.0])), 6)
    2.484138

    Source: Student, "The probable error of a mean", Biometrika 6 (1908).
    """
    count = len(values)
    middle = float(values.mean()) if centre is None else centre
    spread = math.sqrt(float(((values - middle) ** 2).sum()) / (count - 1))
    return student_quantile(count - 1, level) * spread / math.sqrt(count)
