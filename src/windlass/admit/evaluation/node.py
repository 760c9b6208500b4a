"""A node's telemetry with its definition of a spike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.admit.lib.subspace import Floats
from windlass.admit.measure import Bools, onsets
from windlass.model import InputError
from windlass.model.values import number


@dataclass(frozen=True, slots=True, eq=False)
class NodeTelemetry:
    """One node's telemetry with its definition of a spike.

    Parameters
    ----------
    metrics
        (t, d); NaN for a missing value.
    ready
        (t,) CPU Ready, or a substitute.
    level
        Smallest value of a spike in judging.
    policy_level
        Smallest value of a spike that policies receive.
    warm
        Number of steps at the beginning that are not judged.
    busy
        (t,) share of the cores' time that was used; None if unknown.

    Raises
    ------
    InputError
        Lengths differ, or no step is left to judge.
    """

    metrics: Floats
    ready: Floats
    level: float
    policy_level: float
    warm: int
    busy: Floats | None = None

    def __post_init__(self) -> None:
        steps = len(self.ready)
        lengths = {"metrics": len(self.metrics), "busy": steps if self.busy is None else len(self.busy)}
        for name, length in lengths.items():
            if length != steps:
                raise InputError(f"{name} has {length} steps, expected {steps}")
        if not 0 <= self.warm < steps:
            raise InputError(f"warm is {self.warm}, expected fewer than the {steps} steps")

    def onsets(self, apart: int) -> Bools:
        """Return (t - warm,) onsets of spikes among the judged steps, after ``apart`` steps without one."""
        return onsets(self.ready, self.level, apart)[self.warm :]

    def warm_up_part(self) -> NodeTelemetry | None:
        """Return the warm-up part as a node of its own, judged after its first quarter; None if it is too short.

        A choice based on it uses none of the steps that the node itself is judged on.
        """
        if self.warm < 2:
            return None
        part = slice(self.warm)
        busy = None if self.busy is None else self.busy[part]
        level = self.policy_level
        return NodeTelemetry(self.metrics[part], self.ready[part], level, level, self.warm // 4, busy)


def level_of(values: Floats, threshold: str | float) -> float:
    """Return the smallest value that is a spike.

    Parameters
    ----------
    values
        (t,) values for percentiles; NaN is ignored.
    threshold
        ``p95`` for a percentile, or a number. If the percentile is the minimum, the level is the next number above it.

    Raises
    ------
    InputError
        The threshold is neither, or no value is known.

    Examples
    --------
    >>> level_of(np.arange(101.0), "p95"), level_of(np.arange(3.0), 0.2)
    (95.0, 0.2)
    """
    text = str(threshold)
    try:
        value = float(text.removeprefix("p"))
    except ValueError:
        raise InputError(f"threshold is {text!r}, expected a number, or a percentile such as p95") from None
    if not text.startswith("p"):
        return number("threshold", value, -np.inf)
    number("threshold: percentile", value, 0.0, 100.0)
    known = values[~np.isnan(values)]
    if not len(known):
        raise InputError("threshold: no value of the column is known")
    high = float(np.percentile(known, value))
    return high if high > known.min() else float(np.nextafter(high, np.inf))
