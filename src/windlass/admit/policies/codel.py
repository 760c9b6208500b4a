"""Admission by controlled delay: CoDel."""

from __future__ import annotations

import math
from typing import ClassVar

from windlass.admit.lib.load_policy import LoadPolicy
from windlass.admit.view import Admission, TaskLoad
from windlass.model.values import number


class CoDel(LoadPolicy):
    """Rejects steps while even the least queueing delay has been above a target for an interval.

    The first rejection comes after the interval, and the n-th one an interval over √n after the one before. Packets are
    dropped one at a time; a node decides once a step, so that one rejection lasts a step. Time is counted in steps.

    Source: Nichols and Jacobson, Controlling queue delay (ACM Queue 2012).

    Parameters
    ----------
    target
        Greatest queueing delay that is no standing queue, s.
    interval
        Time for which the delay must be above the target, steps.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.admit import AdmitView
    >>> policy = CoDel(target=0.5, interval=2.0)
    >>> late = AdmitView(0.0, np.zeros(1), tasks=TaskLoad(4.0, 3, 1, latency=1.0, wait=1.0, least_wait=0.9))
    >>> [policy.decide(late).reject for _ in range(7)]
    [False, False, True, False, True, False, True]
    """

    name: ClassVar[str] = "codel"

    def __init__(self, target: float = 0.5, interval: float = 5.0) -> None:
        super().__init__()
        self.target = number("target", target, 0.0, open_below=True)
        self.interval = number("interval", interval, 0.0, open_below=True)
        self.step, self.above_since, self.next, self.count = 0, math.nan, math.inf, 0

    def answer(self, tasks: TaskLoad) -> Admission:
        """Return the decision after a step."""
        self.step += 1
        delay = tasks.least_delay
        if delay <= self.target:
            self.above_since, self.next, self.count = math.nan, math.inf, 0
            return Admission(False, f"the least delay is {delay:.3g} s, at most {self.target:.3g} s", delay)
        if math.isnan(self.above_since):
            self.above_since, self.next = float(self.step), self.step + self.interval
        reject = self.step >= self.next
        if reject:
            self.count += 1
            self.next += self.interval / math.sqrt(self.count)
        since = self.step - self.above_since
        return Admission(
            reject, f"the least delay is {delay:.3g} s, above the target for {since:.0f} steps", delay
        )
