"""Rates of the kernel's counters, also when they wrap or restart between two steps.

A counter that is lower than before has wrapped or restarted:

- it has **wrapped** if it was below 2³² (or 2⁶⁴), and the increase modulo that is less than a quarter of the range;
- otherwise it has **restarted**, for example because a device was replaced: its increase is unknown, and its rate in
  this step is NaN.

Time is measured by a monotonic clock. If no time has passed, each rate is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence


def grown(before: int, after: int) -> int | None:
    """Return a counter's increase; None if it restarted.

    >>> grown(5, 12), grown(2**32 - 3, 4), grown(2**64 - 1, 0), grown(1000, 3)
    (7, 7, 1, None)
    """
    if after >= before:
        return after - before
    for whole in (1 << 32, 1 << 64):
        if before < whole:
            step = after + whole - before
            return step if step < whole // 4 else None
    return None


def rate(before: int | None, after: int | None, seconds: float) -> float:
    """Return counts per second; NaN if a value is unknown, the counter restarted, or no time has passed.

    >>> rate(5, 12, 2.0), rate(5, None, 2.0)
    (3.5, nan)
    """
    if before is None or after is None or not seconds > 0.0:
        return math.nan
    step = grown(before, after)
    return math.nan if step is None else step / seconds


class Counters:
    """A fixed list of counters.

    Examples
    --------
    >>> counters = Counters()
    >>> counters.rates([1, None], 1.0)
    [nan, nan]
    >>> counters.rates([4, 2], 2.0)
    [1.5, nan]
    """

    def __init__(self) -> None:
        self._last: Sequence[int | None] = ()

    def rates(self, now: Sequence[int | None], seconds: float) -> list[float]:
        """Return the rates since the last call; NaN in the first."""
        last, self._last = self._last, now
        if not last:
            return [math.nan] * len(now)
        return [rate(before, after, seconds) for before, after in zip(last, now, strict=True)]


class Summed:
    """Counters of several things of a kind, such as disks, summed over the present ones.

    A new thing counts from the next step on, and a removed one no longer counts. A counter that restarted adds nothing
    in that step.

    Examples
    --------
    >>> disks = Summed(2)
    >>> disks.rates({"sda": (10, 1)}, 1.0)
    [nan, nan]
    >>> disks.rates({"sda": (14, 2), "sdb": (900, 900)}, 2.0)
    [2.0, 0.5]
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._last: Mapping[Hashable, Sequence[int]] | None = None

    def rates(self, now: Mapping[Hashable, Sequence[int]] | None, seconds: float) -> list[float]:
        """Return the sums of rates since the last call; NaN in the first, and if nothing is known (None)."""
        last, self._last = self._last, now
        if last is None or now is None or not seconds > 0.0:
            return [math.nan] * self._count
        steps = [0] * self._count
        for key, counters in now.items():
            before = last.get(key)
            if before is not None:
                for at, counter in enumerate(counters):
                    steps[at] += grown(before[at], counter) or 0
        return [step / seconds for step in steps]
