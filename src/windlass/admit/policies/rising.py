"""Admission by CPU Ready and its rise: Windlass's own policy for a node that learns nothing."""

from __future__ import annotations

import math
from typing import ClassVar

from windlass.admit.lib.spike_gate import SpikeGate
from windlass.admit.lib.threshold_policy import ThresholdPolicy
from windlass.admit.view import AdmitView
from windlass.model.values import number


class Rising(ThresholdPolicy):
    """Rejects while CPU Ready plus its last increase is high, between spikes.

    CPU Ready that grows from step to step precedes a spike more often than the same value that falls.

    Source: Windlass.

    Parameters
    ----------
    downtime
        Share of steps at which the node may reject; the threshold moves to it.
    rise
        Weight of the increase since the last step. At 0 the policy is ``ready``.
    between
        Whether to consider only the steps between spikes of CPU Ready: the policy then never rejects during a spike.
    spike, share
        What a spike is for ``between``: the smallest CPU Ready, or if that is None, the highest values of this share
        of the steps.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> policy = Rising(downtime=0.2, spike=0.5)
    >>> views = (AdmitView(0.0, np.zeros(2), ready=each) for each in (0.0, 0.01, 0.02, 0.2, 0.9))
    >>> [policy.decide(view).reject for view in views]
    [False, True, True, True, False]
    """

    name: ClassVar[str] = "rising"
    gauge: ClassVar[str] = "CPU Ready with its rise"

    def __init__(
        self,
        downtime: float = 0.05,
        rise: float = 1.0,
        between: bool = True,
        spike: float | None = None,
        share: float = 0.05,
    ) -> None:
        super().__init__(0.0, downtime, SpikeGate(1, spike, share) if between else None)
        self.rise, self.before = number("rise", rise, 0.0), math.nan

    def read(self, view: AdmitView) -> float:
        """Return CPU Ready of the step plus its weighted increase since the last known step."""
        if math.isnan(view.ready):
            return math.nan
        grown = 0.0 if math.isnan(self.before) else max(0.0, view.ready - self.before)
        self.before = view.ready
        return view.ready + self.rise * grown
