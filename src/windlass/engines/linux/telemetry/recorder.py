"""Observes this machine for a while, step by step, and records it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from windlass.engines.linux.telemetry.observer import Observation, Observer
from windlass.engines.linux.telemetry.recording import Recording
from windlass.model.values import number


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to record, and how often: steps begin at whole multiples of ``every``, counted from the first.

    A step that would begin while the last one is still under way is left out, and the next row is of a longer one. No
    step is made up for.

    Parameters
    ----------
    seconds
        How long; infinite for until somebody stops it.
    every
        Seconds of a step.

    Raises
    ------
    InputError
        A number is out of bounds.

    Examples
    --------
    >>> Pace(seconds=10.0, every=1.0).next(started=5.0, now=7.3)
    8.0
    """

    seconds: float
    every: float

    def __post_init__(self) -> None:
        number("every", self.every, 0.01, 3600.0)
        if not math.isinf(self.seconds):
            number("seconds", self.seconds, 0.0, open_below=True)

    def next(self, started: float, now: float) -> float:
        """When the next step ends, s of the clock."""
        return started + self.every * (math.floor((now - started) / self.every + 1e-6) + 1)


def record(
    observer: Observer,
    recording: Recording,
    pace: Pace,
    clock: Callable[[], float],
    pause: Callable[[float], None],
    tell: Callable[[Observation], None],
) -> None:
    """Record for as long as the pace says, or until something is raised; what there is is saved either way.

    Parameters
    ----------
    observer, recording
        What is measured, and where it goes.
    pace
        How long, and how often.
    clock
        Says the time, s.
    pause
        Waits so many seconds.
    tell
        Called with each step.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    started = clock()
    # Rates need a step before: this one has none, and is no row.
    observer.observe()
    try:
        while True:
            due = pace.next(started, clock())
            if due - started > pace.seconds + 1e-6 * pace.every:
                return
            while (left := due - clock()) > 0.0:
                pause(left)
            seen = observer.observe()
            recording.add(seen)
            tell(seen)
    finally:
        recording.save()
