"""Admission by a forecast of CPU Ready."""

from __future__ import annotations

import math
from collections import deque
from typing import ClassVar

import numpy as np

from windlass.admit.lib.forecasts import checked_forecaster
from windlass.admit.lib.spike_gate import IN_SPIKE, gate_of
from windlass.admit.lib.spike_rules import checked_level
from windlass.admit.lib.thresholds import Threshold
from windlass.admit.site import Reads
from windlass.admit.view import Admission, AdmitView
from windlass.model import InputError
from windlass.model.values import whole

#: Series to forecast: 1 at spikes of CPU Ready and 0 elsewhere, or CPU Ready itself.
SERIES = ("spikes", "values")


class Alarm:
    """Rejects if a forecast of CPU Ready is a spike, with the forecasters that the Pronto paper tried first.

    The last ``window`` values of CPU Ready determine the smallest value of a spike. With ``series`` set to ``spikes``,
    the series of spikes (1) and other values (0) is forecast, and the node rejects from a forecast of ½ on. With
    ``values``, CPU Ready is forecast and compared with that smallest value. If CPU Ready is unknown, the last answer
    holds.

    Source: Pronto, section 3.2.

    Parameters
    ----------
    forecaster
        ``naive``, ``smoothing``, ``arima``, or ``svm``, which needs the extra ``forecast``.
    level, value
        The rule for spikes: ``fixed`` at ``value``; ``percentile``; ``sigma``, standard deviations above the mean;
        ``xbar`` or ``median``.
    series
        One of :data:`SERIES`.
    window
        Number of past values used.
    downtime
        If given, forecasts are compared with a threshold that moves so that this share of steps is above it.
    between
        Whether to consider only the steps between spikes of CPU Ready: the policy then never rejects during a spike.
    spike, share
        What a spike is for ``between``: the smallest CPU Ready, or if that is None, the highest values of this share
        of the steps. ``level`` and ``value`` are the rule for forecasts.

    Raises
    ------
    InputError
        A parameter is unknown or out of bounds.

    Examples
    --------
    >>> policy = Alarm("naive", level="fixed", value=0.1)
    >>> [policy.decide(AdmitView(0.0, np.zeros(2), ready=each)).reject for each in (0.0, 0.2, 0.0)]
    [False, True, False]
    """

    name: ClassVar[str] = "alarm"
    reads: ClassVar[Reads] = Reads(metrics=False, tasks=False)

    def __init__(
        self,
        forecaster: str = "smoothing",
        level: str = "percentile",
        value: float = 95.0,
        series: str = "spikes",
        window: int = 180,
        downtime: float | None = None,
        between: bool = False,
        spike: float | None = None,
        share: float = 0.05,
    ) -> None:
        self.forecaster, self.level, self.value = forecaster, level, value
        checked_forecaster(forecaster)
        checked_level(level, value)
        if series not in SERIES:
            raise InputError(f"series is {series!r}, expected one of {', '.join(SERIES)}")
        self.series = series
        self.past: deque[float] = deque(maxlen=whole("window", window, 2))
        self.threshold = Threshold(1, 0.0, downtime)
        self.gate = gate_of(between, spike, share)
        self.last = Admission(False, "CPU Ready was never measured")

    def decide(self, view: AdmitView) -> Admission:
        """Decide by the forecast."""
        if math.isnan(view.ready):
            return self.last
        self.past.append(view.ready)
        if self.gate is not None and self.gate.closed_now(view.ready):
            self.threshold.rest(np.zeros(1))
            self.last = Admission(False, IN_SPIKE)
            return self.last
        history = np.array(self.past)
        spike = checked_level(self.level, self.value)(history, self.value)
        # If most values are equal, every value may reach the level: none is a spike then.
        marks = history >= spike if spike > history.min() else np.zeros(len(history), np.bool_)
        shown, level = (history, spike) if self.series == "values" else (marks.astype(np.float64), 0.5)
        forecast = checked_forecaster(self.forecaster)(shown)
        if self.threshold.downtime is None:
            high = forecast >= level and (self.series == "spikes" or spike > history.min())
        else:
            high = bool(self.threshold.above(np.array([forecast]))[0])
        self.last = Admission(
            high, f"{self.forecaster} forecasts {forecast:.3g}, a spike is {level:.3g}", forecast
        )
        return self.last
