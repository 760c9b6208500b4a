"""Whether a claim holds over seeds: yes, no, or undecided.

Each verdict considers a whole 95 % interval. It is yes if the interval is on the claim's side of the limit, no if it is
on the other, and None if it includes the limit: more seeds would be needed. One seed has no interval, so no verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.statistics import student_half_width

Floats = NDArray[np.float64]
#: The reason if a verdict is None.
UNDECIDED = "undecided: the interval includes a limit"


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
        # Without a value there is no interval either.
        return "–" if math.isnan(self.mean) else f"{self.mean:.3g}{give_or_take(self.half, '.2g')}"


def give_or_take(half: float, digits: str) -> str:
    """Return the text after a mean: half the width of its interval, or nothing if it has none, as with one seed.

    Parameters
    ----------
    half
        Half the width; infinite or NaN if it is unknown.
    digits
        The format specification, for example ``.1f``.

    Examples
    --------
    >>> give_or_take(2.51, ".1f"), give_or_take(math.nan, ".1f"), give_or_take(math.inf, ".1f")
    (' ± 2.5', '', '')
    """
    return f" ± {half:{digits}}" if math.isfinite(half) else ""


def interval(values: Floats) -> Interval:
    """Return the mean over seeds with its 95 % interval by Student's t, which is infinite for one seed.

    >>> interval(np.array([1.0, 2.0, 3.0])).mean
    2.0
    """
    if len(values) < 2:
        return Interval(float(values.mean()), math.inf)
    return Interval(float(values.mean()), student_half_width(values))


def everywhere(verdicts: list[bool | None]) -> bool | None:
    """Whether all claims hold: no if one does not, and None if none is refuted and one is undecided.

    >>> everywhere([True, True]), everywhere([True, None]), everywhere([None, False]), everywhere([])
    (True, None, False, True)
    """
    if False in verdicts:
        return False
    return None if None in verdicts else True
