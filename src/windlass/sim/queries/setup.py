"""Which queries come and go when, and how long things take."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.values import number


@dataclass(frozen=True, slots=True, eq=False)
class Stays:
    """From when to when each query is there.

    Parameters
    ----------
    arrive, leave
        (n,) s, from 0 on.

    Raises
    ------
    InputError
        Columns of different length, or a query that leaves before it comes.

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
                f"stays: leave has shape {self.leave.shape}, that of arrive is {self.arrive.shape}"
            )
        allowed = np.isfinite(self.leave) & (self.arrive >= 0) & (self.leave >= self.arrive)
        if not allowed.all():
            row = int(np.argmin(allowed))
            raise InputError(
                f"stays: query {row} is there from {self.arrive[row]} to {self.leave[row]} s,"
                " expected finite times of at least 0, none before the other"
            )

    def __len__(self) -> int:
        return len(self.arrive)


@dataclass(frozen=True, slots=True)
class Terms:
    """How long things take, all in s of time or of stream, and how a query catches up.

    Parameters
    ----------
    restart
        For so long a query has no results once it was given another configuration, its first one included: its
        components are being started. They hold what they will need.
    notice
        From a change to the answer. The first change begins it; the planner sees all that has happened by then.
    buffer
        So much of a stream can wait. Of what waits, the oldest is lost first: nobody wants old frames.
    deadline
        A frame whose result comes more than this after it is late.
    catch_up
        A query of which something waits may go so much faster than its stream, as a part of that, on what is left by
        all others.

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

    def __post_init__(self) -> None:
        for field in fields(self):
            number(field.name, getattr(self, field.name), 0.0)
