"""Who has less wait for the same hours, and fewer hours for the same wait; by how much, and how sure that is.

The points of a policy make a curve: the lower convex hull, of which every point can be had by taking turns between two
knobs. Nothing is read beyond its ends, but for what is as good: at more hours than a curve has, its least wait, and at
more wait than it has, its fewest hours.

Hours are counted by what they cost: where types differ in price, an hour of one is not an hour of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass_reproductions.autoscaler.curve_runs import Blocks
from windlass_reproductions.criteria import Judged, Within, between, exactly

_Floats = NDArray[np.float64]

#: What is claimed: so much less mean wait at equal hours, or so many fewer hours at equal wait.
LESS_WAIT, FEWER_HOURS = 0.30, 0.15
#: Intervals are of so much certainty, from so many draws of blocks.
_LEVEL, _DRAWS = 0.95, 1000


@dataclass(frozen=True, slots=True, eq=False)
class Front:
    """A falling, convex curve: (p,) hours, rising, and the wait at each, s."""

    hours: _Floats
    wait: _Floats

    @staticmethod
    def of(hours: _Floats, wait: _Floats) -> Front:
        """The lower convex hull of points, as far as it falls.

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
        """The least wait for at most so many hours, s; NaN where there is no point of so few.

        >>> front = Front(np.array([1.0, 3.0]), np.array([9.0, 1.0]))
        >>> front.wait_at(2.0), front.wait_at(7.0), front.wait_at(0.5)
        (5.0, 1.0, nan)
        """
        return float(np.interp(hours, self.hours, self.wait, left=np.nan))

    def hours_at(self, wait: float) -> float:
        """The fewest hours for at most so much wait, s; NaN where there is no point of so little.

        >>> front = Front(np.array([1.0, 3.0]), np.array([9.0, 1.0]))
        >>> front.hours_at(5.0), front.hours_at(10.0), front.hours_at(0.5)
        (2.0, 1.0, nan)
        """
        return float(np.interp(wait, self.wait[::-1], self.hours[::-1], left=np.nan))


def _above(hours: _Floats, wait: _Floats, first: int, middle: int, last: int) -> bool:
    """Whether the middle point is on or above the line between the others."""
    run, rise = hours[last] - hours[first], wait[last] - wait[first]
    return bool((wait[middle] - wait[first]) * run >= rise * (hours[middle] - hours[first]))


@dataclass(frozen=True, slots=True)
class Gain:
    """A part that is saved, and its interval; NaN where the curves do not meet at that height."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if not np.isfinite(self.value):
            return "no point there"
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"

    def reaches(self, target: float) -> bool:
        """Whether it is at least so much, and above 0 beyond what chance does.

        >>> Gain(0.31, 0.1, 0.5).reaches(0.3), Gain(0.29, 0.1, 0.5).reaches(0.3), Gain(0.4, -0.1, 0.9).reaches(0.3)
        (True, False, False)
        """
        return self.judged(target).holds is True

    def judged(self, target: float) -> Judged:
        """What :meth:`reaches` follows from; where a curve has no point, nothing is saved.

        >>> [Gain(*gain).judged(0.3).holds for gain in ((0.4, 0.1, 0.5), (0.2, 0.1, 0.3), (0.4, -0.1, 0.9))]
        [True, False, None]
        """
        value = self.value if np.isfinite(self.value) else -np.inf
        return Judged(
            (
                Within(exactly(value), low=target),
                Within(between(self.low, self.high), low=0.0, strict=True),
            ),
            f"holds where at least {target:.0%} is saved, and more than nothing beyond chance (95 % interval)",
        )


@dataclass(frozen=True, slots=True)
class Compared:
    """Ours beside theirs at one of their points.

    Parameters
    ----------
    wait, hours
        The part of the wait that is saved at equal hours, and of the hours at equal wait.
    """

    wait: Gain
    hours: Gain

    def verdict(self) -> str:
        """In words.

        >>> none = Gain(0.0, -0.1, 0.1)
        >>> Compared(Gain(0.4, 0.2, 0.5), none).verdict(), Compared(none, Gain(0.14, 0.1, 0.2)).verdict()
        ('reached', 'not reached')
        """
        return "reached" if self.reached() else "not reached"

    def reached(self) -> bool:
        """Whether either is as much as is claimed."""
        return self.judged().holds is True

    def judged(self) -> Judged:
        """What :meth:`reached` follows from: of both claims the one that holds, or else that may."""
        both = self.wait.judged(LESS_WAIT), self.hours.judged(FEWER_HOURS)
        return min(both, key=lambda each: (True, None, False).index(each.holds))


def compare(
    ours: Sequence[Blocks], theirs: Sequence[Blocks], place: int, rng: np.random.Generator
) -> Compared:
    """Curves of two policies at one point of theirs.

    Parameters
    ----------
    ours, theirs
        What was measured at each knob, in the same blocks.
    place
        Which point of theirs says how many hours, and how much wait.
    rng
        Of draws: blocks are drawn anew, the same for all policies, and all is worked out again for each draw.
    """
    count = len(theirs[0].jobs)
    weights = rng.multinomial(count, np.full(count, 1.0 / count), _DRAWS)
    found = _savings(ours, theirs, place, np.ones(count))
    drawn = np.array([_savings(ours, theirs, place, each.astype(np.float64)) for each in weights])
    return Compared(_gain(found[0], drawn[:, 0]), _gain(found[1], drawn[:, 1]))


def _savings(
    ours: Sequence[Blocks], theirs: Sequence[Blocks], place: int, weight: _Floats
) -> tuple[float, float]:
    mine, other = _points(ours, weight), _points(theirs, weight)
    own, base = Front.of(*mine), Front.of(*other)
    hours, wait = float(other[0][place]), float(other[1][place])
    # Their own curve may be better there than their own point.
    return (
        _saved(own.wait_at(hours), base.wait_at(hours)),
        _saved(own.hours_at(wait), base.hours_at(wait)),
    )


def _saved(ours: float, theirs: float) -> float:
    """The part that is saved; of nothing, nothing can be."""
    return 1.0 - ours / theirs if theirs > 0.0 else float("nan")


def _points(measured: Sequence[Blocks], weight: _Floats) -> tuple[_Floats, _Floats]:
    hours = np.array([each.usd @ weight for each in measured])
    wait = np.array([float(each.wait @ weight) / max(1.0, float(each.jobs @ weight)) for each in measured])
    return hours, wait


def _gain(value: float, drawn: _Floats) -> Gain:
    known = drawn[np.isfinite(drawn)]
    # Where many draws have no point there, nobody knows how sure it is.
    if len(known) < _LEVEL * len(drawn):
        return Gain(value, -np.inf, np.inf)
    low, high = np.quantile(known, [0.5 - _LEVEL / 2, 0.5 + _LEVEL / 2])
    return Gain(value, float(low), float(high))
