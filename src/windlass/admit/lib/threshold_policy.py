"""Policies that compare one number with a threshold, fixed or at a percentile."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from windlass.admit.lib.thresholds import Threshold
from windlass.admit.view import Admission, AdmitView


class ThresholdPolicy:
    """Rejects while a number of the view is high; while the number is unknown, the last answer holds."""

    gauge: ClassVar[str]

    def __init__(self, threshold: float, downtime: float | None) -> None:
        self.threshold = Threshold(1, threshold, downtime)
        self.last = Admission(False, f"{self.gauge} was never measured")

    def decide(self, view: AdmitView) -> Admission:
        """Decide by the number."""
        value = self.read(view)
        if math.isnan(value):
            return self.last
        level = float(self.threshold.level[0])
        high = bool(self.threshold.above(np.array([value]))[0])
        why = f"{self.gauge} is {value:.3g}, {'above' if high else 'below'} {level:.3g}"
        self.last = Admission(high, why, value)
        return self.last

    def read(self, view: AdmitView) -> float:
        """Return the number."""
        raise NotImplementedError
