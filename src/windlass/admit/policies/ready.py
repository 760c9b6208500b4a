"""Admission by CPU Ready, the time that tasks wait for a core."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.lib.spike_gate import gate_of
from windlass.admit.lib.threshold_policy import ThresholdPolicy


class Ready(ThresholdPolicy):
    """Rejects while CPU Ready is high: it predicts nothing, but detects waiting that lasts.

    Parameters
    ----------
    threshold
        Smallest CPU Ready at which the node rejects; see :class:`~windlass.admit.AdmitView`.
    downtime
        If given, the threshold moves so that this share of steps is above it.
    between
        Whether to consider only the steps between spikes of CPU Ready: the policy then never rejects during a spike.
    spike, share
        What a spike is for ``between``: the smallest CPU Ready, or if that is None, the highest values of this share
        of the steps.
    nodes
        Number of nodes, which decide independently in one call of ``decide_all``.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.admit import AdmitView
    >>> policy = Ready(threshold=0.05)
    >>> [policy.decide(AdmitView(0.0, np.zeros(2), ready=each)).reject for each in (0.01, 0.2)]
    [False, True]
    """

    name: ClassVar[str] = "ready"
    gauge: ClassVar[str] = "CPU Ready"

    def __init__(
        self,
        threshold: float = 0.05,
        downtime: float | None = None,
        between: bool = False,
        spike: float | None = None,
        share: float = 0.05,
        nodes: int = 1,
    ) -> None:
        super().__init__(threshold, downtime, gate_of(between, spike, share, nodes), nodes)
