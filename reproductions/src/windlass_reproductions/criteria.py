"""The criteria of a verdict: quantities with their uncertainty, and the limits that a claim sets.

A verdict considers the whole range of a quantity: the 95 % interval of its mean over seeds, or the bounds between which
it must lie. It is yes if the whole range is within the limits, no if all of it is outside, and None if it is partly
within. A published number must be matched to its last digit; a claim in words must be statistically significant.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass_reproductions.verdicts import UNDECIDED, Interval, everywhere, interval

Floats = NDArray[np.float64]
#: The reason for no verdict if a claim does not state its setting and holds in only some of those tried.
SOMEWHERE = "holds in some settings and not in others"


@dataclass(frozen=True, slots=True)
class Within:
    """A quantity, and the limits that a claim sets for it.

    Parameters
    ----------
    found
        The range of the quantity; its half width is 0 if nothing is random, and infinite if there is one seed.
    low, high
        The limits.
    strict
        Whether the limits themselves are excluded.

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
        """Whether the whole range is within the limits; None if it is partly within, or unknown."""
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
        """Return the claim with its quantity mirrored at the nearer limit, at most half way to the other limit.

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
    """A claim, expressed as limits on one or more quantities.

    Parameters
    ----------
    parts
        The quantities with their limits; without any there is no verdict.
    rule
        When the claim holds, with the tolerance and its source, in words.
    unanimous
        Whether only all parts together refute the claim, because the source does not state which of them it means;
        otherwise one part refutes it.

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
        """Whether the claim holds; None if that is undecided."""
        if not self.parts:
            return None
        verdicts = [part.holds for part in self.parts]
        if self.unanimous and True in verdicts:
            return True if set(verdicts) == {True} else None
        if self.unanimous and None in verdicts:
            return None
        return everywhere(verdicts)

    @property
    def undecided(self) -> str:
        """Why there is no verdict; empty if there is one, or if the claim has no parts."""
        if self.holds is not None or not self.parts:
            return ""
        verdicts = {part.holds for part in self.parts}
        return SOMEWHERE if self.unanimous and {True, False} <= verdicts else UNDECIDED


def where_it_fails(judged: Judged, why: str) -> str:
    """Return the reason if a claim does not hold; empty if it holds or is undecided.

    >>> [where_it_fails(at_least(exactly(value), 0.5, 0.01), "few jobs") for value in (0.6, 0.4)]
    ['', 'few jobs']
    """
    return why if judged.holds is False else ""


def over(values: Iterable[float] | Floats) -> Interval:
    """Return the mean over seeds with its 95 % interval; NaN values are left out.

    >>> over([1.0, 2.0, 3.0, math.nan]).mean, math.isnan(over([math.nan]).mean)
    (2.0, True)
    """
    known = np.asarray(list(values), dtype=np.float64)
    known = known[~np.isnan(known)]
    return interval(known) if len(known) else Interval(math.nan, math.inf)


def between(least: float, most: float) -> Interval:
    """Return the range of a quantity that lies between two bounds.

    >>> between(1.0, 2.0)
    Interval(mean=1.5, half=0.5)
    """
    return Interval((least + most) / 2, (most - least) / 2)


def exactly(value: float) -> Interval:
    """Return the range of a quantity without randomness.

    >>> exactly(2.0)
    Interval(mean=2.0, half=0.0)
    """
    return Interval(float(value), 0.0)


def printed(found: Interval, value: float, digit: float, source: str = "printed") -> Judged:
    """Claim that a quantity equals the published one, to its last digit.

    >>> [printed(exactly(value), 1.7, 0.1).holds for value in (1.74, 1.76, 1.64)]
    [True, False, False]
    """
    return Judged(
        (Within(found, value - digit / 2, value + digit / 2),),
        f"holds if its whole range rounds to the {source} value, {value:g}",
    )


def at_least(found: Interval, value: float, digit: float) -> Judged:
    """Claim that a quantity is at least as large as the published one, to its last digit.

    >>> [at_least(exactly(value), 0.5, 0.01).holds for value in (0.6, 0.495, 0.494)]
    [True, True, False]
    """
    return Judged(
        (Within(found, low=value - digit / 2),),
        f"holds from {value - digit / 2:g}, which rounds to the printed value",
    )


def at_most(found: Interval, value: float, digit: float) -> Judged:
    """Claim that a quantity is at most as large as the published one, to its last digit.

    >>> [at_most(exactly(value), 0.02, 0.01).holds for value in (0.0, 0.025, 0.026)]
    [True, True, False]
    """
    return Judged(
        (Within(found, high=value + digit / 2),),
        f"holds up to {value + digit / 2:g}, which rounds to the printed value",
    )


def above(found: Iterable[Interval], limit: float = 0.0, *, rule: str) -> Judged:
    """Claim that each of the quantities is significantly above a limit.

    >>> [above([over(each)], rule="").holds for each in ([1.0, 1.1], [-1.0, -1.1], [-1.0, 1.0])]
    [True, False, None]
    """
    return Judged(tuple(Within(each, low=limit, strict=True) for each in found), rule)


def below(found: Iterable[Interval], limit: float = 0.0, *, rule: str) -> Judged:
    """Claim that each of the quantities is significantly below a limit.

    >>> [below([over(each)], rule="").holds for each in ([1.0, 1.1], [-1.0, -1.1], [-1.0, 1.0])]
    [False, True, None]
    """
    return Judged(tuple(Within(each, high=limit, strict=True) for each in found), rule)
