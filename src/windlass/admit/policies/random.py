"""Random admission at a given downtime."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

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

    def __init__(self, rng: np.random.Generator, downtime: float = 0.05) -> None:
        self.rng, self.downtime = rng, number("downtime", downtime, 0.0, 1.0)

    def decide(self, view: AdmitView) -> Admission:
        """Decide at random."""
        drawn = float(self.rng.random())
        return Admission(drawn < self.downtime, "drawn at random", drawn)
