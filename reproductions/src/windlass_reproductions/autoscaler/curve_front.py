"""Savings of one policy against another: of wait at equal hours, and of hours at equal wait, with intervals.

The points of a policy form a curve, their lower convex hull; each point of it can be reached by alternating between two
knobs. A curve is not extrapolated: at more hours than its last point it has its least wait, at more wait than its first
point its fewest hours, and otherwise no value.

Hours are weighted with their price, as types may differ in price.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass_reproductions.autoscaler.curve_runs import Blocks
from windlass_reproductions.criteria import Judged, Within, between, exactly

_Floats = NDArray[np.float64]

#: Claimed savings: of mean wait at equal hours, or of hours at equal wait.
LESS_WAIT, FEWER_HOURS = 0.30, 0.15
#: Level of the intervals, and number of bootstrap draws of blocks.
_LEVEL, _DRAWS = 0.95, 1000


@dataclass(frozen=True, slots=True, eq=False)
class Front:
    """A decreasing, convex curve: (p,) increasing hours, and the wait at each, s."""

    hours: _Floats
    wait: _Floats

    @staticmethod
    def of(hours: _Floats, wait: _Floats) -> Front:
        """Return the decreasing part of the lower convex hull of points.

        >>> found = Front.of(np.array([1.0, 2.0, 3.0, 4.0]), np.array([9.0, 8.0, 1.0, 2.0]))
        >>> found.hours.tolist(), found.wait.tolist()
        ([1.0, 3.0], [9.0, 1.0])
        """
        kept: list[int] = []
        for row in np.lexsort((wait, hours)).tolist():
            if kept and wait[row] >= wait[kept[-1]]:
                continue
            while len(kept) > 1 and _above(hours, wait, kept[-2], kept[-1], row):
                kept.pop()
            kept.append(row)
        return Front(hours[kept], wait[kept])

    def wait_at(self, hours: float) -> float:
        """Return the least wait at no more than ``hours``, s; NaN if all points need more.

        >>> front = Front(np.array([1.0, 3.0]), np.array([9.0, 1.0]))
        >>> front.wait_at(2.0), front.wait_at(7.0), front.wait_at(0.5)
        (5.0, 1.0, nan)
        """
        return float(np.interp(hours, self.hours, self.wait, left=np.nan))

    def hours_at(self, wait: float) -> float:
        """Return the fewest hours at a wait of no more than ``wait`` s; NaN if all points wait longer.

        >>> front = Front(np.array([1.0, 3.0]), np.array([9.0, 1.0]))
        >>> front.hours_at(5.0), front.hours_at(10.0), front.hours_at(0.5)
        (2.0, 1.0, nan)
        """
        return float(np.interp(wait, self.wait[::-1], self.hours[::-1], left=np.nan))


def _above(hours: _Floats, wait: _Floats, first: int, middle: int, last: int) -> bool:
    """Return whether the middle point is on or above the line between the other two."""
    run, rise = hours[last] - hours[first], wait[last] - wait[first]
    return bool((wait[middle] - wait[first]) * run >= rise * (hours[middle] - hours[first]))


@dataclass(frozen=True, slots=True)
class Gain:
    """A saved fraction and its interval; the value is NaN if a curve has no point at the reference."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if not np.isfinite(self.value):
            return "no point at this level"
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"

    def reaches(self, target: float) -> bool:
        """Return whether the saving is at least ``target``, and statistically significant.

        >>> Gain(0.31, 0.1, 0.5).reaches(0.3), Gain(0.29, 0.1, 0.5).reaches(0.3), Gain(0.4, -0.1, 0.9).reaches(0.3)
        (True, False, False)
        """
        return self.judged(target).holds is True

    def judged(self, target: float) -> Judged:
        """Return the claim that :meth:`reaches` tests; a missing point counts as no saving.

        >>> [Gain(*gain).judged(0.3).holds for gain in ((0.4, 0.1, 0.5), (0.2, 0.1, 0.3), (0.4, -0.1, 0.9))]
        [True, False, None]
        """
        value = self.value if np.isfinite(self.value) else -np.inf
        return Judged(
            (
                Within(exactly(value), low=target),
                Within(between(self.low, self.high), low=0.0, strict=True),
            ),
            f"holds if at least {target:.0%} is saved and the whole 95 % interval is above 0",
        )


@dataclass(frozen=True, slots=True)
class Savings:
    """Savings of one policy against another, at one point of the other.

    Parameters
    ----------
    wait, hours
        Saved fraction of the wait at equal hours, and of the hours at equal wait.
    """

    wait: Gain
    hours: Gain

    def verdict(self) -> str:
        """Return the verdict in words.

        >>> none = Gain(0.0, -0.1, 0.1)
        >>> Savings(Gain(0.4, 0.2, 0.5), none).verdict(), Savings(none, Gain(0.14, 0.1, 0.2)).verdict()
        ('reached', 'not reached')
        """
        return "reached" if self.reached() else "not reached"

    def reached(self) -> bool:
        """Return whether either saving is as large as claimed."""
        return self.judged().holds is True

    def judged(self) -> Judged:
        """Return the more favourable of the two claims, which :meth:`reached` tests."""
        both = self.wait.judged(LESS_WAIT), self.hours.judged(FEWER_HOURS)
        return min(both, key=lambda each: (True, None, False).index(each.holds))


def compare(
    ours: Sequence[Blocks], reference: Sequence[Blocks], place: int, rng: np.random.Generator
) -> Savings:
    """Compare the curves of two policies at one point of the second.

    Parameters
    ----------
    ours, reference
        Measurements at each knob, in the same blocks.
    place
        Index of the point in ``reference`` at whose hours and wait the curves are compared.
    rng
        Source of the bootstrap: each draw of blocks is the same for both policies.
    """
    count = len(reference[0].jobs)
    weights = rng.multinomial(count, np.full(count, 1.0 / count), _DRAWS)
    found = _savings(ours, reference, place, np.ones(count))
    drawn = np.array([_savings(ours, reference, place, each.astype(np.float64)) for each in weights])
    return Savings(_gain(found[0], drawn[:, 0]), _gain(found[1], drawn[:, 1]))


def _savings(
    ours: Sequence[Blocks], reference: Sequence[Blocks], place: int, weight: _Floats
) -> tuple[float, float]:
    mine, other = _points(ours, weight), _points(reference, weight)
    own, base = Front.of(*mine), Front.of(*other)
    hours, wait = float(other[0][place]), float(other[1][place])
    # The reference is the curve, which may be better than the point itself.
    return (
        _saved(own.wait_at(hours), base.wait_at(hours)),
        _saved(own.hours_at(wait), base.hours_at(wait)),
    )


def _saved(ours: float, reference: float) -> float:
    """Return the saved fraction; NaN if the reference is 0."""
    return 1.0 - ours / reference if reference > 0.0 else float("nan")


def _points(measured: Sequence[Blocks], weight: _Floats) -> tuple[_Floats, _Floats]:
    hours = np.array([each.usd @ weight for each in measured])
    wait = np.array([float(each.wait @ weight) / max(1.0, float(each.jobs @ weight)) for each in measured])
    return hours, wait


def _gain(value: float, drawn: _Floats) -> Gain:
    known = drawn[np.isfinite(drawn)]
    # The interval is unknown if too many draws have no point at the reference.
    if len(known) < _LEVEL * len(drawn):
        return Gain(value, -np.inf, np.inf)
    low, high = np.quantile(known, [0.5 - _LEVEL / 2, 0.5 + _LEVEL / 2])
    return Gain(value, float(low), float(high))
