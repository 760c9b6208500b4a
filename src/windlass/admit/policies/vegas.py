"""Admission by an adaptive concurrency limit that estimates the queue, as TCP Vegas does."""

from __future__ import annotations

import math
from typing import ClassVar

from windlass.admit.lib.load_policy import LoadPolicy, limited
from windlass.admit.view import Admission, TaskLoad
from windlass.model import InputError
from windlass.model.values import number, whole

#: Tasks for which the limit holds before the latency without load is measured anew, in limits.
_PROBE = 30


class Vegas(LoadPolicy):
    """Limits the tasks at once so that a few of them queue.

    The queue is limit · (1 − r / latency), where r is the least latency of any step. Under 3 log₁₀ of the limit, the
    limit rises by log₁₀ of it; above 6 log₁₀, it falls by as much. It stays while fewer than half of it are in flight.

    Source: Netflix, concurrency-limits, VegasLimit; Brakmo, O'Malley and Peterson, TCP Vegas (SIGCOMM 1994).

    Parameters
    ----------
    initial, most
        First limit, and its upper bound, tasks.
    alpha, beta
        Queue under which the limit rises, and above which it falls, in log₁₀ of the limit.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.admit import AdmitView
    >>> policy = Vegas(initial=20)
    >>> slow = AdmitView(0.0, np.zeros(1), tasks=TaskLoad(20.0, 19, 3, latency=2.0))
    >>> fast = AdmitView(0.0, np.zeros(1), tasks=TaskLoad(20.0, 19, 3, latency=0.1))
    >>> [policy.decide(view).limit for view in (fast, slow, slow, slow)]
    [20, 19, 18, 17]
    """

    name: ClassVar[str] = "vegas"

    def __init__(self, initial: int = 20, most: int = 1000, alpha: float = 3.0, beta: float = 6.0) -> None:
        super().__init__()
        if not whole("initial", initial, 1) <= whole("most", most, 1):
            raise InputError(f"initial is {initial}, expected at most {most}, the bound of the limit")
        self.alpha, self.beta = number("alpha", alpha, 0.0), number("beta", beta, 0.0)
        if self.alpha > self.beta:
            raise InputError(f"alpha is {alpha}, expected at most beta, {beta}")
        self.limit, self.most = float(initial), float(most)
        self.unloaded, self.completed = math.inf, 0

    def answer(self, tasks: TaskLoad) -> Admission:
        """Return the limit after a step."""
        if math.isnan(tasks.latency) or tasks.latency <= 0.0:
            return limited(self.limit, f"no task completed; the limit stays at {self.limit:.3g}")
        self.completed += tasks.completed
        if self.completed > _PROBE * self.limit:
            self.completed, self.unloaded = 0, tasks.latency
        elif tasks.latency < self.unloaded:
            self.unloaded = tasks.latency
        elif 2.0 * tasks.in_flight >= self.limit:
            self._move(math.ceil(self.limit * (1.0 - self.unloaded / tasks.latency)))
        why = f"latency is {tasks.latency:.3g} s, {self.unloaded:.3g} s without load"
        return limited(self.limit, f"{why}; the limit is {self.limit:.3g}")

    def _move(self, queue: int) -> None:
        unit = max(1.0, math.floor(math.log10(self.limit)))
        if queue <= unit:
            self.limit += self.beta * unit
        elif queue < self.alpha * unit:
            self.limit += unit
        elif queue > self.beta * unit:
            self.limit -= unit
        self.limit = min(max(self.limit, 1.0), self.most)
