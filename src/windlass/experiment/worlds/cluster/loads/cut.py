"""Arrivals after the simulated time, which are left out, and a note about loads that end before it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import AllowInfNan, BeforeValidator, PlainSerializer

#: A load whose last arrival is before this share of the time has ended early.
_EARLY = 0.8
#: The simulated time of a scenario whose jobs all run, however long they take to arrive.
ALL: Final = "all"


def _read(value: Any) -> float:
    if value == ALL:
        return math.inf
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        raise ValueError(f"expected a number above 0, or {ALL!r}")
    return number


def _write(seconds: float) -> float | str:
    return seconds if math.isfinite(seconds) else ALL


#: Length of the simulated time, s; infinite for :data:`ALL`.
Seconds = Annotated[float, AllowInfNan(True), BeforeValidator(_read), PlainSerializer(_write)]


@dataclass(frozen=True, slots=True)
class Span:
    """The simulated time.

    Parameters
    ----------
    seconds
        Its length, s; infinite if all jobs run.
    begin
        When it begins, s since the first midnight of loads that are generated with a daily cycle.
    """

    seconds: float
    begin: float = 0.0

    def first(self, submit: NDArray[np.float64], *, drawn: bool) -> float:
        """Return the time of an arrival that counts as the beginning, s: the first of a log, unless all jobs run.

        >>> Span(10.0, 5.0).first(np.array([3.0, 8.0]), drawn=False), Span(10.0, 5.0).first(np.array([3.0]), drawn=True)
        (3.0, 5.0)
        """
        if drawn:
            return self.begin
        return float(submit[0]) if math.isfinite(self.seconds) else 0.0

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
    if seconds == math.inf or last >= _EARLY * seconds:
        return ()
    return (
        f"{where}: the last arrival is at {last:,.0f} s of {seconds:,.0f} s; raise its jobs, or lower seconds",
    )
