"""Random admission at a given downtime."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from windlass.admit.lib.spike_gate import IN_SPIKE, gate_of
from windlass.admit.site import Reads
from windlass.admit.view import Admission, AdmitView
from windlass.model.values import number


class Random:
    """Rejects at random steps with a fixed probability: the baseline for a signal of the same downtime.

    Parameters
    ----------
    rng
        Random generator.
    downtime
        The probability, 0 to 1.
    between
        Whether to consider only the steps between spikes of CPU Ready: the policy then never rejects during a spike,
        and at other steps with a higher probability, so that the downtime is the same.
    spike, share
        What a spike is for ``between``: the smallest CPU Ready, or if that is None, the highest values of this share
        of the steps.

    Raises
    ------
    InputError
        The probability is out of bounds.

    Examples
    --------
    >>> policy = Random(np.random.default_rng(1), downtime=0.1)
    >>> view = AdmitView(0.0, np.zeros(2))
    >>> sum(policy.decide(view).reject for _ in range(1000))
    92
    """

    name: ClassVar[str] = "random"
    reads: ClassVar[Reads] = Reads(metrics=False, tasks=False)

    def __init__(
        self,
        rng: np.random.Generator,
        downtime: float = 0.05,
        between: bool = False,
        spike: float | None = None,
        share: float = 0.05,
    ) -> None:
        self.rng, self.downtime = rng, number("downtime", downtime, 0.0, 1.0)
        self.gate = gate_of(between, spike, share)
        self.steps, self.steps_between = 0, 0

    def decide(self, view: AdmitView) -> Admission:
        """Decide at random."""
        drawn = float(self.rng.random())
        self.steps += 1
        if self.gate is not None and self.gate.closed_now(view.ready):
            return Admission(False, IN_SPIKE, drawn)
        self.steps_between += 1
        probability = self.downtime * self.steps / self.steps_between
        return Admission(drawn < probability, "drawn at random", drawn)
