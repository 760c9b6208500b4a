"""The agent's current decision, and the measurements behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class StepSignal:
    """The outcome of one step.

    Parameters
    ----------
    steps, rejected, guarded
        Number of steps so far; of steps after which tasks were rejected; and of those rejected only by the guard.
    now
        When the step ended, on a monotonic clock, s.
    reject, why, score
        The decision.
    busy, ready, room
        Used share of cores' time; CPU Ready; and its distance from the guard's limit, 1 to 0.
    metrics
        (d,) the telemetry.
    projections, singular
        Of a policy with directions; empty for others.
    """

    steps: int
    rejected: int
    guarded: int
    now: float
    reject: bool
    why: str
    score: float
    busy: float
    ready: float
    room: float
    metrics: _Floats
    projections: _Floats
    singular: _Floats


@dataclass(frozen=True, slots=True)
class AdmissionAnswer:
    """Whether a task may start now.

    Parameters
    ----------
    accept
        True if it may.
    why
        The reason, one line.
    percent
        Percentage of the usual share of tasks: 1 to 100, and 0 if tasks are rejected.
    measured
        False before the first step, when the answer is to reject.
    """

    accept: bool
    why: str
    percent: int
    measured: bool = True


class Board:
    """The last step's outcome. A single thread writes it, and any thread may read it without a lock.

    Parameters
    ----------
    clock
        The clock of :attr:`StepSignal.now`, s.
    stale
        Age from which the last step is ignored and tasks are rejected, s: an agent that does not get to run is on an
        overloaded machine.

    Examples
    --------
    >>> Board(lambda: 0.0, 5.0).answer()
    AdmissionAnswer(accept=False, why='no step was measured yet', percent=0, measured=False)
    """

    def __init__(self, clock: Callable[[], float], stale: float) -> None:
        self._clock, self.stale = clock, stale
        self.last: StepSignal | None = None

    @property
    def age(self) -> float:
        """Age of the last step, s; infinite before the first."""
        return float("inf") if self.last is None else self._clock() - self.last.now

    def answer(self) -> AdmissionAnswer:
        """Return the current decision."""
        last = self.last
        if last is None:
            return AdmissionAnswer(False, "no step was measured yet", 0, measured=False)
        age = self._clock() - last.now
        if age > self.stale:
            return AdmissionAnswer(
                False, f"nothing was measured for {age:.0f} s, expected a step every {self.stale:.3g} s", 0
            )
        if last.reject:
            return AdmissionAnswer(False, last.why, 0)
        return AdmissionAnswer(True, last.why, max(1, round(100.0 * last.room)))
