"""Simulated time by the wall clock."""

from __future__ import annotations

import math
from collections.abc import Callable

from windlass.agent.stop import Stop
from windlass.control.engine import EngineStoppedError
from windlass.model.errors import ParameterError
from windlass.model.values import number


def speed_of(text: str) -> float:
    """Return a speed from text: a number, or ``max``.

    Raises
    ------
    ParameterError
        It is neither.

    Examples
    --------
    >>> speed_of("60"), speed_of("max")
    (60.0, inf)
    >>> speed_of("fast")
    Traceback (most recent call last):
    windlass.model.errors.ParameterError: speed: 'fast', expected simulated seconds per second above 0, or max
    """
    if text == "max":
        return math.inf
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0.0 < found < math.inf:
        expected = "expected simulated seconds per second above 0, or max"
        raise ParameterError("speed", f"{text[:40]!r}, {expected}")
    return found


class SimulatedPace:
    """Waits until simulated time may go on. An engine that is late continues at its pace, and does not catch up.

    Parameters
    ----------
    speed
        Simulated seconds per second; infinity for as fast as possible.
    stop
        A stop request, which ends each wait.
    clock
        Time that only grows, s.

    Raises
    ------
    InputError
        The speed is not positive. :meth:`wait` raises :class:`EngineStoppedError` after a stop request.

    Examples
    --------
    >>> pace = SimulatedPace(math.inf, Stop(), lambda: 0.0)
    >>> pace.wait(0.0), pace.wait(3600.0), pace.every
    (None, None, 60.0)
    >>> SimulatedPace(60.0, Stop(), lambda: 0.0).every
    30.0
    """

    def __init__(self, speed: float, stop: Stop, clock: Callable[[], float]) -> None:
        self.speed = speed if speed == math.inf else number("speed", speed, 0.0, open_below=True)
        self._stop, self._clock = stop, clock
        self._at: float | None = None
        self._due = 0.0

    @property
    def every(self) -> float:
        """Simulated time between two observations, s: half a second of the wall clock, within a second and a minute."""
        return min(60.0, max(1.0, 0.5 * self.speed))

    def wait(self, simulated: float) -> None:
        """Return when simulated time (s) may pass a value; the first call returns at once."""
        now = self._clock()
        if self._at is None:
            self._due = now
        else:
            self._due = max(now, self._due + (simulated - self._at) / self.speed)
        self._at = simulated
        if self._stop.wait(self._due - now):
            raise EngineStoppedError("stopped on request")
