"""Policies that compare one number with a threshold, fixed or at a percentile."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from windlass.admit.lib.spike_gate import IN_SPIKE, SpikeGate
from windlass.admit.lib.thresholds import Threshold
from windlass.admit.view import Admission, AdmitView


class ThresholdPolicy:
    """Rejects while a number of the view is high; while the number is unknown, the last answer holds.

    Parameters
    ----------
    threshold, downtime
        See :class:`~windlass.admit.lib.thresholds.Threshold`.
    gate
        If given, the policy never rejects while the gate is closed.
    """

    gauge: ClassVar[str]

    def __init__(self, threshold: float, downtime: float | None, gate: SpikeGate | None = None) -> None:
        self.threshold, self.gate = Threshold(1, threshold, downtime), gate
        self.last = Admission(False, f"{self.gauge} was never measured")

    def decide(self, view: AdmitView) -> Admission:
        """Decide by the number."""
        value = self.read(view)
        if self.gate is not None and self.gate.closed_now(view.ready):
            self.threshold.rest(np.array([value]))
            self.last = Admission(False, IN_SPIKE, value)
        elif not math.isnan(value):
            self.last = self._compared(value)
        return self.last

    def read(self, view: AdmitView) -> float:
        """Return the number."""
        raise NotImplementedError

    def _compared(self, value: float) -> Admission:
        level = float(self.threshold.level[0])
        high = bool(self.threshold.above(np.array([value]))[0])
        why = f"{self.gauge} is {value:.3g}, {'above' if high else 'below'} {level:.3g}"
        return Admission(high, why, value)
