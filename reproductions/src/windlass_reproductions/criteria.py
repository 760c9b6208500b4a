"""What a row is judged by: quantities, as far as they are known, and the limits that a claim sets to them.

A verdict looks at the whole of what is known of a quantity: the 95 % interval of its mean over seeds, or the bounds
between which it must lie. It is yes where all of that lies within the limits, no where all lies without, and None where
it has some of both. A number that is printed is met to its last digit, and a shape in words beyond chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass_reproductions.verdicts import UNTOLD, Interval, everywhere, interval

Floats = NDArray[np.float64]
#: What is said of a claim that leaves open which setting it speaks of.
SOMEWHERE = "holds in some settings and not in others"


@dataclass(frozen=True, slots=True)
class Within:
    """A quantity, and between which limits a claim has it.

    Parameters
    ----------
    found
        What is known of it; a half width of 0 where nothing is drawn at random, infinite of one seed.
    low, high
        The limits.
    strict
        Whether the limits themselves are outside.

    Examples
    --------
    >>> [Within(Interval(mean, 0.1), low=0.0).holds for mean in (0.2, -0.2, 0.0)]
    [True, False, None]
    >>> Within(Interval(0.0, 0.0), high=0.0).holds, Within(Interval(0.0, 0.0), high=0.0, strict=True).holds
    (True, False)
    """

    found: Interval
    low: float = -math.inf
    high: float = math.inf
    strict: bool = False

    @property
    def holds(self) -> bool | None:
        """Whether it is within, all of it; None where some of it is."""
        least, most = self.found.low, self.found.high
        if math.isnan(self.found.mean):
            return None
        if self.strict:
            inside, outside = (
                self.low < least and most < self.high,
                most <= self.low or least >= self.high,
            )
        else:
            inside, outside = (
                self.low <= least and most <= self.high,
                most < self.low or least > self.high,
            )
        return True if inside else False if outside else None

    def inverted(self) -> Within:
        """The same claim on a quantity as far on the other side of the nearer limit, or half way to the further one.

        >>> Within(Interval(3.0, 0.5), low=2.0).inverted().found
        Interval(mean=1.0, half=0.5)
        """
        mean = self.found.mean
        limit = min((self.low, self.high), key=lambda edge: abs(edge - mean))
        far = min(abs(limit - mean), (self.high - self.low) / 2)
        turned = Interval(limit + math.copysign(far, limit - mean), self.found.half)
        return Within(turned, self.low, self.high, self.strict)


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim, as the limits that all its quantities keep.

    Parameters
    ----------
    parts
        The quantities; with none there is nothing to judge.
    rule
        When it holds, with the tolerance and where that comes from, in words.
    unanimous
        Whether it takes all parts to refute the claim, where the source leaves open which of them it speaks of; else
        one does.

    Examples
    --------
    >>> yes, no = Within(Interval(1.0, 0.0), low=0.0), Within(Interval(-1.0, 0.0), low=0.0)
    >>> Judged((yes, yes), "").holds, Judged((yes, no), "").holds, Judged((), "").holds
    (True, False, None)
    >>> Judged((yes, no), "", unanimous=True).holds, Judged((no, no), "", unanimous=True).holds
    (None, False)
    """

    parts: tuple[Within, ...]
    rule: str
    unanimous: bool = False

    @property
    def holds(self) -> bool | None:
        """Whether the claim holds; None where nobody can tell."""
        if not self.parts:
            return None
        verdicts = [part.holds for part in self.parts]
        if self.unanimous and True in verdicts:
            return True if set(verdicts) == {True} else None
        if self.unanimous and None in verdicts:
            return None
        return everywhere(verdicts)

    @property
    def untold(self) -> str:
        """Why nothing is told; empty where something is, or there is nothing to tell."""
        if self.holds is not None or not self.parts:
            return ""
        verdicts = {part.holds for part in self.parts}
        return SOMEWHERE if self.unanimous and {True, False} <= verdicts else UNTOLD


def where_it_fails(judged: Judged, why: str) -> str:
    """A reason for a claim that does not hold; empty where it does, or nobody can tell.

    >>> [where_it_fails(at_least(exactly(value), 0.5, 0.01), "few jobs") for value in (0.6, 0.4)]
    ['', 'few jobs']
    """
    return why if judged.holds is False else ""


def over(values: Iterable[float] | Floats) -> Interval:
    """What is known of a mean over seeds; those that have no value are left out.

    >>> over([1.0, 2.0, 3.0, math.nan]).mean, math.isnan(over([math.nan]).mean)
    (2.0, True)
    """
    told = np.asarray(list(values), dtype=np.float64)
    told = told[~np.isnan(told)]
    return interval(told) if len(told) else Interval(math.nan, math.inf)


def between(least: float, most: float) -> Interval:
    """What is known of a quantity that lies between two bounds.

    >>> between(1.0, 2.0)
    Interval(mean=1.5, half=0.5)
    """
    return Interval((least + most) / 2, (most - least) / 2)


def exactly(value: float) -> Interval:
    """A quantity that is not left to chance.

    >>> exactly(2.0)
    Interval(mean=2.0, half=0.0)
    """
    return Interval(float(value), 0.0)


def printed(found: Interval, value: float, digit: float, whence: str = "printed") -> Judged:
    """That a quantity is the printed one, to its last digit.

    >>> [printed(exactly(value), 1.7, 0.1).holds for value in (1.74, 1.76, 1.64)]
    [True, False, False]
    """
    return Judged(
        (Within(found, value - digit / 2, value + digit / 2),),
        f"holds where all that is known of it rounds to what is {whence}, {value:g}",
    )


def at_least(found: Interval, value: float, digit: float) -> Judged:
    """That a quantity is as large as the printed one, to its last digit.

    >>> [at_least(exactly(value), 0.5, 0.01).holds for value in (0.6, 0.495, 0.494)]
    [True, True, False]
    """
    return Judged(
        (Within(found, low=value - digit / 2),), f"holds from {value - digit / 2:g} on, which rounds to it"
    )


def at_most(found: Interval, value: float, digit: float) -> Judged:
    """That a quantity is no larger than the printed one, to its last digit.

    >>> [at_most(exactly(value), 0.02, 0.01).holds for value in (0.0, 0.025, 0.026)]
    [True, True, False]
    """
    return Judged(
        (Within(found, high=value + digit / 2),), f"holds up to {value + digit / 2:g}, which rounds to it"
    )


def above(found: Iterable[Interval], limit: float = 0.0, *, rule: str) -> Judged:
    """That quantities are more than a limit, each of them, beyond chance.

    >>> [above([over(each)], rule="").holds for each in ([1.0, 1.1], [-1.0, -1.1], [-1.0, 1.0])]
    [True, False, None]
    """
    return Judged(tuple(Within(each, low=limit, strict=True) for each in found), rule)


def below(found: Iterable[Interval], limit: float = 0.0, *, rule: str) -> Judged:
    """That quantities are less than a limit, each of them, beyond chance.

    >>> [below([over(each)], rule="").holds for each in ([1.0, 1.1], [-1.0, -1.1], [-1.0, 1.0])]
    [False, True, None]
    """
    return Judged(tuple(Within(each, high=limit, strict=True) for each in found), rule)
