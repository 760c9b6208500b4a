"""Admission by an adaptive concurrency limit that follows the gradient of latency."""

from __future__ import annotations

import math
from typing import ClassVar

from windlass.admit.lib.load_policy import LoadPolicy, limited
from windlass.admit.view import Admission, TaskLoad
from windlass.model import InputError
from windlass.model.values import number, whole

#: Steps over whose plain mean the long-term latency starts.
_WARM = 10


class Gradient(LoadPolicy):
    """Limits the tasks at once: less as latency exceeds its long-term mean, more otherwise.

    With each step that completed tasks, the limit moves towards limit · g + queue, where g is ``tolerance`` times the
    long-term latency over the latency of the step, between 0.5 and 1. The limit stays while fewer than half of it are
    in flight.

    Source: Netflix, concurrency-limits, Gradient2Limit (with its default parameters, except ``least``).

    Parameters
    ----------
    tolerance
        Latency over its long-term mean from which the limit falls, at least 1.
    queue
        Tasks by which the limit may exceed what the latency suggests.
    initial, least, most
        First limit, and its bounds, tasks.
    smoothing
        Part of the way to the new limit in each step, above 0 and at most 1.
    window
        Memory of the long-term latency, steps.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.admit import AdmitView
    >>> policy = Gradient(queue=0.0)
    >>> slow = AdmitView(0.0, np.zeros(1), tasks=TaskLoad(16.0, 15, 3, latency=2.0))
    >>> fast = AdmitView(0.0, np.zeros(1), tasks=TaskLoad(16.0, 15, 3, latency=0.1))
    >>> [policy.decide(view).limit for view in [fast] * 20 + [slow] * 3][-4:]
    [20, 18, 16, 14]
    """

    name: ClassVar[str] = "gradient"

    def __init__(
        self,
        tolerance: float = 1.5,
        queue: float = 4.0,
        initial: int = 20,
        least: int = 1,
        most: int = 200,
        smoothing: float = 0.2,
        window: int = 600,
    ) -> None:
        super().__init__()
        self.tolerance, self.queue = number("tolerance", tolerance, 1.0), number("queue", queue, 0.0)
        self.least, self.most = whole("least", least, 1), whole("most", most, 1)
        if not self.least <= whole("initial", initial, 1) <= self.most:
            raise InputError(f"initial is {initial}, expected {least} to {most}, the bounds of the limit")
        self.smoothing = number("smoothing", smoothing, 0.0, 1.0, open_below=True)
        self.window = whole("window", window, _WARM)
        self.limit, self.long_term, self.steps = float(initial), 0.0, 0

    def answer(self, tasks: TaskLoad) -> Admission:
        """Return the limit after a step."""
        if math.isnan(tasks.latency) or tasks.latency <= 0.0:
            return limited(self.limit, f"no task completed; the limit stays at {self.limit:.3g}")
        self._remember(tasks.latency)
        if tasks.in_flight >= self.limit / 2.0:
            ratio = self.tolerance * self.long_term / tasks.latency
            aim = self.limit * min(1.0, max(0.5, ratio)) + self.queue
            self.limit += self.smoothing * (aim - self.limit)
            self.limit = min(max(self.limit, float(self.least)), float(self.most))
        why = f"latency is {tasks.latency:.3g} s, {self.long_term:.3g} s in the long term"
        return limited(self.limit, f"{why}; the limit is {self.limit:.3g}")

    def _remember(self, latency: float) -> None:
        self.steps += 1
        if self.steps <= _WARM:
            self.long_term += (latency - self.long_term) / self.steps
            return
        self.long_term += 2.0 / (self.window + 1) * (latency - self.long_term)
        if self.long_term > 2.0 * latency:
            # After an overload the mean should come down soon.
            self.long_term *= 0.95
