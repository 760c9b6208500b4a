"""Recording of this machine's telemetry for a given time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from windlass.engines.linux.telemetry.observer import Observation, Observer
from windlass.engines.linux.telemetry.recording import Recording
from windlass.model.values import number


@dataclass(frozen=True, slots=True)
class Pace:
    """Duration and interval of a recording: steps begin at multiples of ``every`` after the first.

    If a step takes too long, the steps that would begin meanwhile are skipped, and the next row covers a longer time.

    Parameters
    ----------
    seconds
        Duration, s; infinity to record until interrupted.
    every
        Interval, s.

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
        """Return when the next step ends, s on the clock."""
        return started + self.every * (math.floor((now - started) / self.every + 1e-6) + 1)


def record(
    observer: Observer,
    recording: Recording,
    pace: Pace,
    clock: Callable[[], float],
    pause: Callable[[float], None],
    notify: Callable[[Observation], None],
) -> None:
    """Record for the given duration or until an exception is raised; the rows so far are saved either way.

    Parameters
    ----------
    observer, recording
        The source of observations, and their destination.
    pace
        Duration and interval.
    clock
        Returns the time, s.
    pause
        Waits for this many seconds.
    notify
        Called with each observation.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    started = clock()
    # The first observation has no rates and makes no row.
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
            notify(seen)
    finally:
        recording.save()
