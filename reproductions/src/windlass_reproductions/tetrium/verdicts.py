"""Criteria of the figures' claims: each uses the 95 % interval over seeds and the thesis' printed precision.

The thesis prints reductions in whole percents, so half a point is its own rounding. It gives no interval and no number
of runs. A claim holds if our whole interval is on its side, is refuted if all of it is on the other, and is otherwise
undecided; see :mod:`windlass_reproductions.verdicts`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from windlass.results import Summary
from windlass_reproductions.criteria import Judged, Within, above, exactly, over
from windlass_reproductions.verdicts import Floats, Interval, interval

#: Half a unit of the last digit of a whole percent.
ROUNDED = 0.5
_OF_INTERVAL = "of the 95 % interval over seeds"


def reaches(found: Summary, paper: float, rounded: float = ROUNDED) -> Judged:
    """Claim that a reduction is at least as large as published, up to its rounding.

    >>> [reaches(Summary("gain", mean, 2.0), 42.0).holds for mean in (43.6, 41.0, 39.4)]
    [True, None, False]
    >>> reaches(Summary("gain", 50.0, math.nan), 42.0).holds is None
    True
    """
    half = math.inf if math.isnan(found.half_width) else found.half_width
    least = paper - rounded
    return Judged(
        (Within(Interval(found.mean, half), low=least),), f"holds if all {_OF_INTERVAL} is {least:g} or more"
    )


def rises(*pairs: tuple[Floats, Floats]) -> Judged:
    """Claim that gains (s,) of the last of each pair are above those of the first, on the seeds that have both.

    >>> import numpy as np
    >>> some = np.array([1.0, 2.0, 3.0])
    >>> [rises((some, last)).holds for last in (some + 1.0, some - 1.0, some[::-1])]
    [True, False, None]
    """
    return above([over(last - first) for first, last in pairs], rule=f"holds if all {_OF_INTERVAL} is above")


def rises_by(first: Floats, last: Floats, points: float) -> Judged:
    """Claim that gains rise by as many points as published, up to the rounding of two numbers, a point.

    >>> import numpy as np
    >>> some = np.array([1.0, 2.0, 3.0])
    >>> [rises_by(some, some + more, 10.0).holds for more in (9.1, 8.9)]
    [True, False]
    """
    found = interval(last - first)
    return reaches(Summary("rise", found.mean, found.half), points, 2 * ROUNDED)


def is_highest(one: Floats, others: Sequence[Floats]) -> Judged:
    """Claim that the gains of one are above those of each other, on the same seeds; undecided without others."""
    return rises(*((other, one) for other in others))


def whatever_the_wait(judged: Sequence[Judged]) -> Judged:
    """Combine the criteria for each wait, because the thesis does not state it: undecided unless all waits agree.

    >>> yes, no = (reaches(Summary("gain", mean, 1.0), 42.0) for mean in (50.0, 30.0))
    >>> [whatever_the_wait(each).holds for each in ([yes, yes], [no, no], [yes, no])]
    [True, False, None]
    """
    parts = tuple(part for each in judged for part in each.parts)
    return Judged(parts, f"{judged[0].rule}, for each wait", unanimous=True)


def is_none(share: float, precision: float) -> Judged:
    """Claim that a share, %, is so small that a plot would show it as 0.

    >>> is_none(0.9, 1.0).holds, is_none(1.1, 1.0).holds
    (True, False)
    """
    return Judged((Within(exactly(share), high=precision),), f"holds up to {precision:g} %")


def is_as_printed(ours: float, paper: float, digit: float) -> Judged:
    """Claim that ours rounds to the published number; ``digit`` is the unit of its last digit.

    >>> is_as_printed(45.714, 45.7, 0.1).holds, is_as_printed(45.76, 45.7, 0.1).holds
    (True, False)
    """
    off = digit / 2 * (1.0 + 1e-9)
    return Judged(
        (Within(exactly(ours), paper - off, paper + off),),
        f"holds if it rounds to {paper:g}, to {digit:g}",
    )
