"""Arrivals after the simulated time, which are left out, and a note about loads that end before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: A load whose last arrival is before this share of the time has ended early.
_EARLY = 0.8


@dataclass(frozen=True, slots=True)
class Span:
    """The simulated time.

    Parameters
    ----------
    seconds
        Its length, s.
    begin
        When it begins, s since the first midnight of loads that are generated with a daily cycle.
    """

    seconds: float
    begin: float = 0.0

    def within(self, submit: NDArray[np.float64], begin: float) -> NDArray[np.bool_]:
        """Return which arrivals are within the simulated time.

        Parameters
        ----------
        submit
            (n,) arrivals, s.
        begin
            The time of an arrival that counts as the beginning, s.

        Examples
        --------
        >>> Span(10.0).within(np.array([1.0, 2.0, 11.0, 12.0]), 2.0).tolist()
        [False, True, True, False]
        """
        found: NDArray[np.bool_] = (submit >= begin) & (submit < begin + self.seconds)
        return found


def early_notes(last: float, seconds: float, where: str) -> tuple[str, ...]:
    """Return a note if the last arrival of a load, s, is well before the end of the simulated time.

    >>> early_notes(7.0, 100.0, "batch@iowa")
    ('batch@iowa: the last arrival is at 7 s of 100 s; raise its jobs, or lower seconds',)
    """
    if last >= _EARLY * seconds:
        return ()
    return (
        f"{where}: the last arrival is at {last:,.0f} s of {seconds:,.0f} s; raise its jobs, or lower seconds",
    )
