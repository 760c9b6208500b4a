"""Criteria of statistically significant differences, over machines or blocks of time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.admit.evaluation import FEWEST, Intervals, SignalDifference, ahead
from windlass.admit.measure import Quality
from windlass_reproductions.criteria import Judged, Within, above, below, between, over
from windlass_reproductions.verdicts import Interval

Floats = NDArray[np.float64]

#: Smallest number of onsets for a conclusion.
FEW = FEWEST
_OVER_MACHINES = "holds if it is significantly lower (95 % interval over machines)"


def less(ours: Floats, reference: Floats) -> Judged:
    """Return the claim that ours is lower on the same machines: the 95 % interval of relative differences is below 0.

    It is undecided if 0 is within the interval, or with fewer than two machines.

    >>> base = np.array([1.0, 2.0, 3.0])
    >>> [less(each, base).holds for each in (0.7 * base + 0.01, base, 1.3 * base, base[::-1])]
    [True, False, False, None]
    """
    return below([_relative(ours, reference)], rule=_OVER_MACHINES)


def less_everywhere(pairs: Sequence[tuple[Floats, Floats]]) -> Judged:
    """Return the claim that ours is lower than the reference in each pair, in the sense of :func:`less`.

    >>> base = np.array([1.0, 2.0, 3.0])
    >>> less_everywhere([(0.7 * base, base), (1.3 * base, base)]).holds
    False
    """
    return below([_relative(*pair) for pair in pairs], rule=f"in each; {_OVER_MACHINES}")


def not_less_in(pairs: Sequence[tuple[Floats, Floats]], least: int) -> Judged:
    """Return the claim that ours is not lower than the reference in at least ``least`` pairs.

    Undecided pairs may be either.

    >>> base = np.array([1.0, 2.0, 3.0])
    >>> lower, higher, neither = (0.7 * base, base), (1.3 * base, base), (base[::-1], base)
    >>> [not_less_in([higher, other], 2).holds for other in (higher, lower, neither)]
    [True, False, None]
    """
    lower = [less(*pair).holds for pair in pairs]
    sure = lower.count(False)
    return Judged(
        (Within(between(sure, sure + lower.count(None)), low=float(least)),),
        f"holds if it is so for at least {least} of {len(pairs)} (95 % interval over machines)",
    )


def nearer(pairs: Sequence[tuple[Floats, Floats]]) -> Judged:
    """Return the claim that forecasts have smaller squared errors than others of the same values.

    Parameters
    ----------
    pairs
        (k,) errors of our forecasts and of the reference forecasts.

    Examples
    --------
    >>> off = np.array([1.0, -2.0, 3.0, -1.5, 2.5])
    >>> [nearer([pair]).holds for pair in ((0.2 * off, off), (off, 0.2 * off), (off, off[::-1]))]
    [True, False, None]
    """
    return below(
        [over(ours**2 - reference**2) for ours, reference in pairs],
        rule="holds if squared errors of the same forecasts are significantly lower (95 % interval)",
    )


def changes_little(first: Floats, last: Floats, within: float) -> Judged:
    """Return the claim that a mean over machines changes by at most the fraction ``within``.

    >>> base = np.array([2.0, 2.1, 1.9])
    >>> [changes_little(base, each, 0.15).holds for each in (1.1 * base, 1.5 * base, 0.5 * base, base + [0, 0, 0.9])]
    [True, False, False, None]
    """
    return Judged(
        (Within(over((last - first) / first.mean()), -within, within),),
        f"holds if the whole 95 % interval over machines is within {within:.0%}, a tolerance that we chose",
    )


def rises(columns: Sequence[Floats]) -> Judged:
    """Return the claim that the last third of columns (m,) is higher than the first third, on average over machines.

    >>> grow = [place * np.array([1.0, 1.1, 0.9]) for place in (1.0, 2.0, 3.0)]
    >>> rises(grow).holds, rises(grow[::-1]).holds, rises([grow[0], grow[0][::-1]]).holds
    (True, False, None)
    """
    third = max(1, len(columns) // 3)
    first, last = (np.mean(part, axis=0) for part in (columns[:third], columns[-third:]))
    known = (first > 0) & (last > 0)
    return above(
        [over(np.log(last[known] / first[known]))],
        rule="holds if the last third of columns is significantly above the first (95 % interval over machines)",
    )


def more_before(left: int, right: int) -> Judged:
    """Return the claim that more onsets have a raise before them than only after; undecided with few onsets.

    >>> [more_before(*counts).holds for counts in ((60, 20), (20, 60), (40, 41), (5, 0))]
    [True, False, None, None]
    """
    from scipy.stats import binomtest  # loads much, and `windlass list` names the papers

    count = left + right
    rule = f"holds if it is more than half of both (Wilson's 95 % interval for independent onsets, at least {FEW})"
    if count < FEW:
        return Judged((), rule)
    found = binomtest(left, count).proportion_ci(method="wilson")
    return above([between(float(found.low), float(found.high))], 0.5, rule=rule)


def _relative(ours: Floats, reference: Floats) -> Interval:
    known = reference > 0
    return over(ours[known] / reference[known] - 1.0)


def beats_chance(found: Quality, sure: Intervals) -> bool | None:
    """Return whether a signal's recall is significantly above that of random steps and of its own shifted copy.

    It is None if there are too few onsets.

    >>> none = (0.0, 0.0)
    >>> found = Quality(90, 0.9, 0.05, 0.4, 0.3, 0.5, 0.5, 4.0, 81, 0)
    >>> beats_chance(found, Intervals(none, (0.1, 0.2), (0.3, 0.4), none, 0.5))
    True
    >>> beats_chance(found, Intervals(none, (-0.1, 0.2), (0.3, 0.4), none, 0.5))
    False
    >>> beats_chance(found, Intervals(none, (0.1, 0.2), (-0.3, 0.4), none, 0.5))
    False
    >>> few = Quality(2, 1.0, 0.05, 0.4, 0.3, 0.5, 0.5, 4.0, 2, 0)
    >>> beats_chance(few, Intervals(none, (0.1, 0.2), (0.3, 0.4), none, 0.5))
    """
    if found.onsets < FEW:
        return None
    return sure.over_shifted[0] > 0.0 and sure.over_chance[0] > 0.0


def foresees_nearly_all(found: Quality, sure: Intervals) -> Judged:
    """Return the claim that nearly all onsets (9 of 10) have a raise before them, and more than by chance.

    It is undecided if there are few onsets, or if an interval contains its limit.

    >>> most, above_0, about_0, some = (0.92, 0.99), (0.1, 0.2), (-0.1, 0.2), (0.4, 0.6)
    >>> found = Quality(90, 0.95, 0.05, 0.4, 0.3, 0.5, 0.5, 4.0, 86, 0)
    >>> [foresees_nearly_all(found, Intervals(recall, above_0, chance, above_0, 0.01)).holds
    ...     for recall, chance in ((most, above_0), (some, above_0), (most, about_0))]
    [True, False, None]
    """
    rule = f"holds if recall is at least 0.9 and above chance and shifted (95 % intervals), with at least {FEW} onsets"
    if found.onsets < FEW:
        return Judged((), rule)
    chances = (sure.over_shifted, sure.over_chance)
    return Judged(
        (
            Within(between(*sure.recall), low=0.9),
            *(Within(between(*pair), low=0.0, strict=True) for pair in chances),
        ),
        rule,
    )


def is_ahead(found: Quality, difference: SignalDifference | None) -> bool | None:
    """Return whether a signal predicts more onsets than another, by the rule of ``windlass admit evaluate``.

    It is None without another signal, or if it is undecided.

    >>> found = Quality(90, 0.95, 0.05, 0.4, 0.3, 0.5, 0.5, 4.0, 86, 0)
    >>> pairs = ((0.1, 0.3), (-0.3, -0.1), (-0.1, 0.1))
    >>> [is_ahead(found, SignalDifference(0.0, pair)) for pair in pairs], is_ahead(found, None)
    ([True, False, None], None)
    >>> is_ahead(Quality(9, 0.95, 0.05, 0.4, 0.3, 0.5, 0.5, 4.0, 8, 0), SignalDifference(0.2, pairs[0]))
    """
    return None if difference is None else ahead(difference, found.onsets)
