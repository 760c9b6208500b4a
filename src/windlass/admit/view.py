"""What a node sees of itself at one step, and what it answers; the answer stands until the next step.

Steps are counted, and no policy looks at the time between them: a clock that jumps changes no answer. Who knows that
steps were lost says so (:meth:`windlass.admit.Pronto.restart`).
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
    """All that a node may know of itself when a step ends.

    Parameters
    ----------
    now
        The node's clock, s.
    metrics
        (d,) what it has measured, the same metrics in the same order at each step; NaN where one is missing.
    busy
        Share of its cores' time that was used, 0 to 1; NaN where unknown.
    ready
        CPU Ready: time in which tasks could run and had no core, over the time of all cores; it can be above 1. NaN
        where unknown.

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
    """Whether the node takes tasks from now on.

    Parameters
    ----------
    reject
        True where it takes none.
    why
        The reason, in words.
    score
        What was held against a threshold, in the policy's own unit; NaN where nothing was.

    Examples
    --------
    >>> Admission(reject=False, why="nothing spikes").reject
    False
    """

    reject: bool
    why: str
    score: float = math.nan

    def check(self, view: AdmitView) -> None:
        """Raise unless an engine can carry this out, whatever the view.

        Raises
        ------
        PolicyError
            It is neither yes nor no, or has no reason.
        """
        if not isinstance(self.reject, bool | np.bool_):
            raise PolicyError(f"reject is {self.reject!r}, expected True or False")
        if not self.why:
            raise PolicyError("an answer without a reason")
