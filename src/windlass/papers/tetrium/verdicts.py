"""Whether the figures' claims hold: each by the 95 % interval over seeds, to the precision that the thesis prints.

The thesis prints reductions in whole percents, so half a point is its own rounding. It gives no interval and no number
of runs. A claim holds where our whole interval is on its side, is refuted where all of it is on the other, and cannot
be told else; see :mod:`windlass.papers.verdicts`.
"""

from __future__ import annotations

import math

from windlass.papers.verdicts import Floats, everywhere, interval, is_lower
from windlass.results import Summary

#: Half of what the last digit of a whole percent is worth.
ROUNDED = 0.5


def reaches(found: Summary, paper: float, rounded: float = ROUNDED) -> bool | None:
    """Whether a reduction is as large as published, to its rounding.

    >>> [reaches(Summary("gain", mean, 2.0), 42.0) for mean in (43.6, 41.0, 39.4)]
    [True, None, False]
    >>> reaches(Summary("gain", 50.0, math.nan), 42.0) is None
    True
    """
    if math.isnan(found.half_width):
        return None
    if found.mean - found.half_width >= paper - rounded:
        return True
    return False if found.mean + found.half_width < paper - rounded else None


def rises(first: Floats, last: Floats) -> bool | None:
    """Whether gains (s,) of the last are above those of the first, on the same seeds."""
    return is_lower(first, last)


def rises_by(first: Floats, last: Floats, points: float) -> bool | None:
    """Whether gains rise by as many points as published; two rounded numbers are a point apart at most.

    >>> import numpy as np
    >>> some = np.array([1.0, 2.0, 3.0])
    >>> [rises_by(some, some + more, 10.0) for more in (9.1, 8.9)]
    [True, False]
    """
    found = interval(last - first)
    return reaches(Summary("rise", found.mean, found.half), points, 2 * ROUNDED)


def is_highest(one: Floats, others: list[Floats]) -> bool | None:
    """Whether the gains of one are above those of each other, on the same seeds; None of nothing to compare with."""
    return everywhere([rises(other, one) for other in others]) if others else None


def whatever_the_wait(verdicts: list[bool | None]) -> bool | None:
    """Whether a claim against delay scheduling holds, where its wait is not published: as all waits have it, or None.

    >>> whatever_the_wait([True, True]), whatever_the_wait([False, False]), whatever_the_wait([True, False])
    (True, False, None)
    """
    return verdicts[0] if len(set(verdicts)) == 1 else None


def is_none(share: float, precision: float) -> bool:
    """Whether so small a share, %, would be read off a plot as none.

    >>> is_none(0.9, 1.0), is_none(1.1, 1.0)
    (True, False)
    """
    return share <= precision


def is_as_printed(ours: float, paper: float, digit: float) -> bool:
    """Whether ours rounds to the published number, whose last digit is worth so much.

    >>> is_as_printed(45.714, 45.7, 0.1), is_as_printed(45.76, 45.7, 0.1)
    (True, False)
    """
    return abs(ours - paper) <= digit / 2 * (1.0 + 1e-9)
