"""Admission by credits: Breakwater."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.lib.load_policy import LoadPolicy, limited
from windlass.admit.view import Admission, TaskLoad
from windlass.model import InputError
from windlass.model.values import number, whole


class Breakwater(LoadPolicy):
    """Limits the tasks at once to a pool of credits that follows the queueing delay.

    While the delay is below the target, the pool grows by ``increase`` a step. Above, it shrinks in proportion to the
    excess, by half at most. If the delay is above ``drop`` targets, the node rejects all tasks. A scheduler that sees
    the limit of each node has all of its credits, so that none lie unused at clients.

    Source: Cho et al., Overload control for µs-scale RPCs with Breakwater (OSDI 2020), sections 3.2 and 3.4.

    Parameters
    ----------
    target
        Queueing delay, s.
    increase
        Credits that the pool gains in a step.
    decrease
        Factor on the relative excess of the delay.
    drop
        Delay from which the node rejects all tasks, in targets, at least 1.
    initial, most
        First number of credits, and its upper bound, tasks.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.admit import AdmitView
    >>> policy = Breakwater(target=0.5, initial=8)
    >>> views = [AdmitView(0.0, np.zeros(1), tasks=TaskLoad(4.0, 3, 1, wait=each)) for each in (0.1, 0.75, 2.0)]
    >>> [(found.reject, found.limit) for found in map(policy.decide, views)]
    [(False, 9), (False, 8), (True, None)]
    """

    name: ClassVar[str] = "breakwater"

    def __init__(
        self,
        target: float = 0.5,
        increase: float = 1.0,
        decrease: float = 0.2,
        drop: float = 2.0,
        initial: int = 20,
        most: int = 1000,
    ) -> None:
        super().__init__()
        self.target = number("target", target, 0.0, open_below=True)
        self.increase = number("increase", increase, 0.0, open_below=True)
        self.decrease = number("decrease", decrease, 0.0, open_below=True)
        self.drop = number("drop", drop, 1.0)
        if not whole("initial", initial, 1) <= whole("most", most, 1):
            raise InputError(f"initial is {initial}, expected at most {most}, the bound of the credits")
        self.credits, self.most = float(initial), float(most)

    def answer(self, tasks: TaskLoad) -> Admission:
        """Return the decision after a step."""
        excess = tasks.delay / self.target - 1.0
        if excess < 0.0:
            self.credits = min(self.credits + self.increase, self.most)
        else:
            self.credits = max(self.credits * max(1.0 - self.decrease * excess, 0.5), 1.0)
        why = f"the delay is {tasks.delay:.3g} s, the target {self.target:.3g} s"
        if tasks.delay > self.drop * self.target:
            return Admission(True, why, self.credits)
        return limited(self.credits, f"{why}; there are {self.credits:.3g} credits")
