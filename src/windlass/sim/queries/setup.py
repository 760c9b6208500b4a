"""Arrivals and departures of queries, and the delays and limits of a run."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.values import number


@dataclass(frozen=True, slots=True, eq=False)
class Stays:
    """Arrival and departure of each query.

    Parameters
    ----------
    arrive, leave
        (n,) times, s, of at least 0.

    Raises
    ------
    InputError
        The columns differ in length, or a query leaves before it arrives.

    Examples
    --------
    >>> len(Stays(np.array([0.0, 5.0]), np.array([60.0, 65.0])))
    2
    """

    arrive: NDArray[np.float64]
    leave: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.arrive.shape != self.leave.shape or self.arrive.ndim != 1:
            raise InputError(
                f"stays: leave has shape {self.leave.shape} and arrive {self.arrive.shape}, expected (n,) for both"
            )
        allowed = np.isfinite(self.leave) & (self.arrive >= 0) & (self.leave >= self.arrive)
        if not allowed.all():
            row = int(np.argmin(allowed))
            raise InputError(
                f"stays: query {row} arrives at {self.arrive[row]} s and leaves at {self.leave[row]} s,"
                " expected finite times with 0 <= arrival <= departure"
            )

    def __len__(self) -> int:
        return len(self.arrive)


@dataclass(frozen=True, slots=True)
class Terms:
    """Delays and limits, in seconds of time or of stream.

    Parameters
    ----------
    restart
        Time without results after a query gets a configuration, while its components start. They hold their resources
        from the beginning.
    notice
        Time from a change to the planner's answer. It begins with the first change, and the planner gets all changes
        up to its end.
    buffer
        Longest buffer of a stream. The oldest frames are lost first.
    deadline
        Time from a frame to its result above which the result is late.
    catch_up
        Fraction of the stream's pace by which a query with buffered frames may be faster than its stream, on resources
        that no other query uses.
    patience
        Least time from a call of the planner to one that is due to a changed capacity alone, in which all running
        configurations fit.

    Raises
    ------
    InputError
        A number is negative or not finite.
    """

    restart: float = 1.0
    notice: float = 1.0
    buffer: float = 2.0
    deadline: float = 0.5
    catch_up: float = 0.25
    patience: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            number(field.name, getattr(self, field.name), 0.0)
