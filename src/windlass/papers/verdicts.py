"""Whether a claim holds over seeds, beyond what chance does: yes, no, or cannot be told.

Each verdict looks at a whole 95 % interval. It is yes where the interval lies on the claim's side, no where it lies on
the other, and None where it has some of both: then so few seeds cannot tell. Of one seed nobody knows anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

Floats = NDArray[np.float64]
#: Intervals are of so much certainty.
LEVEL = 0.95
#: What is said where a verdict is None.
UNTOLD = "cannot be told: the interval has some of both"


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and half the width of its 95 % interval."""

    mean: float
    half: float

    @property
    def low(self) -> float:
        """Its lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """Its upper end."""
        return self.mean + self.half

    def __str__(self) -> str:
        return f"{self.mean:.3g}{give_or_take(self.half, '.2g')}"


def give_or_take(half: float, digits: str) -> str:
    """What stands behind a mean: half the width of its interval, or nothing where there is none, as of one seed.

    Parameters
    ----------
    half
        Half the width; infinite or NaN where nobody knows it.
    digits
        How it is printed, as a format.

    Examples
    --------
    >>> give_or_take(2.51, ".1f"), give_or_take(math.nan, ".1f"), give_or_take(math.inf, ".1f")
    (' ± 2.5', '', '')
    """
    return f" ± {half:{digits}}" if math.isfinite(half) else ""


def interval(values: Floats) -> Interval:
    """The mean over seeds by Student's t; of one seed nobody knows how sure it is.

    >>> interval(np.array([1.0, 2.0, 3.0])).mean
    2.0
    """
    if len(values) < 2:
        return Interval(float(values.mean()), math.inf)
    half = student.ppf(0.5 + LEVEL / 2, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return Interval(float(values.mean()), float(half))


def is_lower(ours: Floats, theirs: Floats) -> bool | None:
    """Whether ours is lower than theirs on the same seeds.

    Parameters
    ----------
    ours, theirs
        (s,) a value a seed.

    Returns
    -------
    bool or None
        Whether the interval of the differences lies below 0; None where 0 is within it.

    Examples
    --------
    >>> base = np.array([1.0, 2.0, 3.0])
    >>> is_lower(base - 0.5, base), is_lower(base, base), is_lower(base + 0.5, base), is_lower(base[::-1], base)
    (True, False, False, None)
    """
    found = interval(ours - theirs)
    if found.high < 0.0:
        return True
    return False if found.low >= 0.0 else None


def is_at_most(ours: Floats, theirs: Floats, times: float) -> bool | None:
    """Whether ours is at most so many times theirs, on the same seeds.

    >>> base = np.array([1.0, 1.1, 0.9])
    >>> [is_at_most(each * base, base, 1.1) for each in (1.09, 1.1, 1.11)]
    [True, True, False]
    >>> is_at_most(base[::-1], base, 1.1), is_at_most(base[:1], base[:1], 2.0)
    (None, None)
    """
    found = interval(ours - times * theirs)
    if found.high <= 0.0:
        return True
    return False if found.low > 0.0 else None


def is_at_least(ours: Floats, theirs: Floats, times: float) -> bool | None:
    """Whether ours is at least so many times theirs, on the same seeds.

    >>> base = np.array([1.0, 1.1, 0.9])
    >>> [is_at_least(each * base, base, 1.5) for each in (1.49, 1.5, 1.51)]
    [False, True, True]
    """
    return is_at_most(-ours, -theirs, times)


def everywhere(verdicts: list[bool | None]) -> bool | None:
    """Whether all hold: no where one does not, and None where none is refuted and one cannot be told.

    >>> everywhere([True, True]), everywhere([True, None]), everywhere([None, False]), everywhere([])
    (True, None, False, True)
    """
    if False in verdicts:
        return False
    return None if None in verdicts else True


def at_least_so_many(hold: int, untold: int, asked: int) -> bool | None:
    """Whether so many cases hold as are asked; None where those that cannot be told could make them so many.

    >>> at_least_so_many(2, 0, 2), at_least_so_many(1, 1, 2), at_least_so_many(1, 0, 2)
    (True, None, False)
    """
    if hold >= asked:
        return True
    return None if hold + untold >= asked else False
