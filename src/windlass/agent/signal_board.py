"""What an agent has answered last, and what it measured then: whoever asks is shown this."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class StepSignal:
    """One step.

    Parameters
    ----------
    steps, rejected, guarded
        Steps so far; those after which tasks were rejected; and those of them where the guard alone did.
    now
        When the step ended, s of a clock that never jumps.
    reject, why, score
        What was answered.
    busy, ready, room
        Share of cores' time; CPU Ready; and how far it is from the guard's limit, 1 to 0.
    metrics
        (d,) as measured.
    projections, singular
        Of a policy that has directions; empty otherwise.
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
    """Whether a task may come now.

    Parameters
    ----------
    accept
        True where it may.
    why
        The reason, one line.
    percent
        Of its usual share of tasks: 1 to 100, and 0 where it rejects.
    """

    accept: bool
    why: str
    percent: int


class Board:
    """Where the step that stands is shown. One thread shows, others look: there is nothing to lock.

    Parameters
    ----------
    clock
        As of :attr:`StepSignal.now`, s.
    stale
        A step that is older says nothing: whoever asks is rejected, as an agent that does not get to run is on a
        machine that has too much to do.

    Examples
    --------
    >>> Board(lambda: 0.0, 5.0).answer()
    AdmissionAnswer(accept=False, why='no step was measured yet', percent=0)
    """

    def __init__(self, clock: Callable[[], float], stale: float) -> None:
        self._clock, self.stale = clock, stale
        self.last: StepSignal | None = None

    @property
    def age(self) -> float:
        """Of the last step, s; infinite before the first."""
        return float("inf") if self.last is None else self._clock() - self.last.now

    def answer(self) -> AdmissionAnswer:
        """What stands."""
        last = self.last
        if last is None:
            return AdmissionAnswer(False, "no step was measured yet", 0)
        age = self._clock() - last.now
        if age > self.stale:
            return AdmissionAnswer(
                False, f"nothing was measured for {age:.0f} s, expected a step each {self.stale:.3g} s", 0
            )
        if last.reject:
            return AdmissionAnswer(False, last.why, 0)
        return AdmissionAnswer(True, last.why, max(1, round(100.0 * last.room)))
