"""The number of jobs or seeds with which a difference would be significant, as an estimate."""

from __future__ import annotations

import math
from typing import Final

from windlass.model.statistics import student_quantile
from windlass.results.verdict.paired import ConfidenceInterval

#: Estimates above this multiple of the present number are not given: the difference is too close to 0.
MOST: Final = 100


def needed_jobs(found: ConfidenceInterval, jobs: int) -> int | None:
    """Estimate the number of jobs with which an interval of the same centre would just exclude 0.

    The width of an interval over a fixed number of blocks falls with 1/√n in the number of jobs n. With the estimated
    number, the difference is significant in about half of all such logs.

    Parameters
    ----------
    found
        An interval over blocks that contains 0.
    jobs
        Number of jobs in the blocks.

    Returns
    -------
    int or None
        None if more than :data:`MOST` times ``jobs`` are needed.

    Examples
    --------
    >>> found = [ConfidenceInterval(mean, mean - 2.0, mean + 2.0, 20) for mean in (1.0, 0.0)]
    >>> needed_jobs(found[0], 300), needed_jobs(found[1], 300)
    (1200, None)
    """
    half, mean = (found.high - found.low) / 2, abs(found.mean)
    if half > math.sqrt(MOST) * mean:
        return None
    return math.ceil(jobs * (half / mean) ** 2)


def needed_seeds(found: ConfidenceInterval) -> int | None:
    """Estimate the number of seeds with which Student's interval of the same mean and spread would exclude 0.

    Parameters
    ----------
    found
        An interval over seeds that contains 0.

    Returns
    -------
    int or None
        None if more than :data:`MOST` times as many are needed.

    Examples
    --------
    >>> needed_seeds(ConfidenceInterval(1.0, -1.484, 3.484, 3)), needed_seeds(ConfidenceInterval(0.0, -1.0, 1.0, 3))
    (7, None)
    """
    spread = (found.high - found.low) / 2 * math.sqrt(found.count) / student_quantile(found.count - 1)
    counts = range(found.count, MOST * found.count + 1)
    return next(
        (
            count
            for count in counts
            if student_quantile(count - 1) * spread <= abs(found.mean) * math.sqrt(count)
        ),
        None,
    )
