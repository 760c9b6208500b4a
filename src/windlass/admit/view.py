"""Input and output of an admission policy at one step; the answer holds until the next step.

Steps are counted, and no policy uses the time between them, so a clock that jumps changes no answer. A caller that
detects lost steps reports them (:meth:`windlass.admit.Pronto.restart`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError, PolicyError
from windlass.model.values import number


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
        True to reject tasks.
    why
        The reason, in words.
    score
        The number compared with a threshold, in the policy's own unit; NaN without one.

    Examples
    --------
    >>> Admission(reject=False, why="nothing spikes").reject
    False
    """

    reject: bool
    why: str
    score: float = math.nan

    def check(self, view: AdmitView) -> None:
        """Raise unless an engine can carry this out; the view does not matter.

        Raises
        ------
        PolicyError
            ``reject`` is not a boolean, or the reason is empty.
        """
        if not isinstance(self.reject, bool | np.bool_):
            raise PolicyError(f"reject is {self.reject!r}, expected True or False")
        if not self.why:
            raise PolicyError("the answer has no reason")
