"""Whether a claim holds over seeds, beyond what chance does: yes, no, or cannot be told.

Each verdict looks at a whole 95 % interval. It is yes where the interval lies on the claim's side, no where it lies on
the other, and None where it has some of both: then so few seeds cannot tell. Of one seed nobody knows anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.statistics import student_half_width

Floats = NDArray[np.float64]
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
        # Where there is no value, there is no interval either.
        return "–" if math.isnan(self.mean) else f"{self.mean:.3g}{give_or_take(self.half, '.2g')}"


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
    return Interval(float(values.mean()), student_half_width(values))


def everywhere(verdicts: list[bool | None]) -> bool | None:
    """Whether all hold: no where one does not, and None where none is refuted and one cannot be told.

    >>> everywhere([True, True]), everywhere([True, None]), everywhere([None, False]), everywhere([])
    (True, None, False, True)
    """
    if False in verdicts:
        return False
    return None if None in verdicts else True
