"""Input and output of an admission policy at one step; the answer holds until the next step.

Steps are counted, and no policy uses the time between them, so a clock that jumps changes no answer. A caller that
detects lost steps reports them (:meth:`windlass.admit.Pronto.restart`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError, PolicyError
from windlass.model.values import number, whole

_View = TypeVar("_View")


def unchecked(kind: type[_View], *values: object) -> _View:
    """Return a view without the checks of its constructor, which take most of the time of a step.

    Parameters
    ----------
    kind
        Class of the view.
    values
        All of its fields, in order, which the caller knows to be within their bounds.

    Examples
    --------
    >>> unchecked(TaskLoad, 1.5, 1, 2, 0.5, 0.4, 0.1, 0.0, 0.2).delay
    0.2
    """
    made, names = object.__new__(kind), vars(kind)["__slots__"]
    for name, value in zip(names, values, strict=True):
        object.__setattr__(made, name, value)
    return made


@dataclass(frozen=True, slots=True)
class TaskLoad:
    """Tasks, or requests, of a node during one step.

    Parameters
    ----------
    in_flight
        Mean number of tasks that ran or waited at the node.
    waiting
        Number of tasks that wait at the node when the step ends.
    completed
        Number of tasks that completed.
    latency, least_latency
        Mean and least time from arrival at the node to completion, over the tasks that completed, s; NaN without any.
    wait, least_wait
        Mean and least time from arrival at the node to the start, over the tasks that started, s; NaN without any.
    oldest
        Time since the arrival of the oldest task that waits, s; 0 if none waits.

    Raises
    ------
    InputError
        A number is below 0.

    Examples
    --------
    >>> TaskLoad(1.5, 1, 2, 0.5, 0.4, 0.1, 0.0, 0.2).delay
    0.2
    """

    in_flight: float
    waiting: int
    completed: int
    latency: float = math.nan
    least_latency: float = math.nan
    wait: float = math.nan
    least_wait: float = math.nan
    oldest: float = 0.0

    def __post_init__(self) -> None:
        whole("waiting", self.waiting, 0)
        whole("completed", self.completed, 0)
        for name in ("in_flight", "latency", "least_latency", "wait", "least_wait", "oldest"):
            value = getattr(self, name)
            if not math.isnan(value):
                number(name, value, 0.0)

    @property
    def delay(self) -> float:
        """The queueing delay, s: the mean wait of the tasks that started, or the oldest wait if that is longer."""
        return self.oldest if math.isnan(self.wait) else max(self.wait, self.oldest)

    @property
    def least_delay(self) -> float:
        """The least queueing delay, s: of the tasks that started; the oldest wait if none started."""
        return self.oldest if math.isnan(self.least_wait) else self.least_wait


@dataclass(frozen=True, slots=True)
class UnboundTasks:
    """Tasks of a site that dispatch has given to no node yet: the part of its view that admission delays.

    Under late binding, a task waits for a node that requests it, and a node that rejects requests none. A dispatch
    policy that binds at once leaves no such tasks.

    Parameters
    ----------
    waiting
        Number of tasks.
    oldest
        Time since the arrival of the oldest of them, s; 0 without any.

    Raises
    ------
    InputError
        A number is below 0.

    Examples
    --------
    >>> UnboundTasks(waiting=3, oldest=1.5).oldest
    1.5
    """

    waiting: int
    oldest: float = 0.0

    def __post_init__(self) -> None:
        whole("waiting", self.waiting, 0)
        number("oldest", self.oldest, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class AdmitView:
    """All that a policy may know of its node when a step ends.

    Parameters
    ----------
    now
        The node's clock, s.
    metrics
        (d,) measurements, the same metrics in the same order at each step; NaN for a missing one.
    busy
        Share of its cores' time that was used, 0 to 1; NaN if unknown.
    ready
        CPU Ready: time in which tasks were runnable without a core, divided by the time of all cores; it can exceed 1.
        NaN if unknown.
    tasks
        Its tasks in the step; None if unknown, as on a node whose agent does not see requests.
    unbound
        Tasks of its site that wait for a node; None if unknown, as on a live node, whose agent does not see the
        dispatcher's queue.

    Raises
    ------
    InputError
        A number is out of bounds.

    Examples
    --------
    >>> AdmitView(now=0.0, metrics=np.array([0.5, np.nan]), busy=0.5, ready=0.01).metrics.shape
    (2,)
    """

    now: float
    metrics: NDArray[np.float64]
    busy: float = math.nan
    ready: float = math.nan
    tasks: TaskLoad | None = None
    unbound: UnboundTasks | None = None

    def __post_init__(self) -> None:
        number("now", self.now, -math.inf)
        if self.metrics.ndim != 1:
            raise InputError(f"metrics have shape {self.metrics.shape}, expected one row")
        for name, value, most in (("busy", self.busy, 1.0), ("ready", self.ready, math.inf)):
            if not math.isnan(value):
                number(name, value, 0.0, most)


@dataclass(frozen=True, slots=True)
class Admission:
    """A decision whether the node accepts tasks from now on.

    Parameters
    ----------
    reject
        True to reject all tasks.
    why
        The reason, in words.
    score
        The number compared with a threshold, in the policy's own unit; NaN without one.
    limit
        Most tasks that the node has at once, running and waiting: it rejects a task that would be one more. None for no
        limit.

    Examples
    --------
    >>> Admission(reject=False, why="nothing spikes").reject
    False
    """

    reject: bool
    why: str
    score: float = math.nan
    limit: int | None = None

    def check(self, view: AdmitView) -> None:
        """Raise unless an engine can carry this out; the view does not matter.

        Raises
        ------
        PolicyError
            ``reject`` is not a boolean, the reason is empty, or the limit is no whole number of at least 1.
        """
        if not isinstance(self.reject, bool | np.bool_):
            raise PolicyError(f"reject is {self.reject!r}, expected True or False")
        if self.limit is not None and not (isinstance(self.limit, int | np.integer) and self.limit >= 1):
            raise PolicyError(f"limit is {self.limit!r}, expected a whole number of at least 1, or None")
        if not self.why:
            raise PolicyError("the answer has no reason")
