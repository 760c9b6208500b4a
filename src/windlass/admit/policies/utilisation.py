"""Admission by the utilisation of the node's cores."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.lib.spike_gate import gate_of
from windlass.admit.lib.threshold_policy import ThresholdPolicy


class Utilisation(ThresholdPolicy):
    """Rejects while the utilisation of the cores is high, as most schedulers do.

    Parameters
    ----------
    threshold
        Share of the cores' time, 0 to 1.
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
    >>> policy = Utilisation(threshold=0.8)
    >>> policy.decide(AdmitView(0.0, np.zeros(2), busy=0.9)).why
    'utilisation is 0.9, above 0.8'
    """

    name: ClassVar[str] = "utilisation"
    gauge: ClassVar[str] = "utilisation"
    by_busy: ClassVar[bool] = True

    def __init__(
        self,
        threshold: float = 0.9,
        downtime: float | None = None,
        between: bool = False,
        spike: float | None = None,
        share: float = 0.05,
        nodes: int = 1,
    ) -> None:
        super().__init__(threshold, downtime, gate_of(between, spike, share, nodes), nodes)
