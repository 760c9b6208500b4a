"""A node's telemetry, and what a spike is on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.admit.lib.subspace import Floats
from windlass.admit.measure import Bools, onsets
from windlass.model import InputError
from windlass.model.values import number


@dataclass(frozen=True, slots=True, eq=False)
class NodeTelemetry:
    """One node's telemetry, and what a spike is on it.

    Parameters
    ----------
    metrics
        (t, d); NaN where one is missing.
    ready
        (t,) CPU Ready, or what stands for it.
    level
        From which value of it on a step is judged a spike.
    told
        The value that policies are told.
    warm
        So many steps at the beginning are not judged.
    busy
        (t,) share of the cores' time that was used; None where nobody knows.

    Raises
    ------
    InputError
        Lengths differ, or no step is left to judge.
    """

    metrics: Floats
    ready: Floats
    level: float
    told: float
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
        """(t - warm,) onsets of spikes among the steps that are judged, after so many steps without one."""
        return onsets(self.ready, self.level, apart)[self.warm :]

    def begun(self) -> NodeTelemetry | None:
        """What it is known of before it is judged, judged after a quarter of it; None where that is nothing.

        What is chosen on this knows nothing of the steps that the node itself is judged on.
        """
        if self.warm < 2:
            return None
        part = slice(self.warm)
        busy = None if self.busy is None else self.busy[part]
        return NodeTelemetry(self.metrics[part], self.ready[part], self.told, self.told, self.warm // 4, busy)


def level_of(values: Floats, threshold: str | float) -> float:
    """From which value on one is a spike.

    Parameters
    ----------
    values
        (t,) that percentiles are of; NaN is passed over.
    threshold
        ``p95`` for a percentile, or a number. Where most values are alike, a percentile is the least value above.

    Raises
    ------
    InputError
        It is neither, or no value is known.

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
