"""UNICEP: jobs that have waited long relative to their processors and requested time."""

from typing import ClassVar

import numpy as np


class Unicep:
    """UNICEP: the greatest wait / (log2(processors) × requested time) goes first.

    For a job of one processor the formula divides by zero. For such jobs the logarithm counts as 0.001, so that
    they go first once they have waited at all. A requested time of less than a second counts as one.

    Source: Tang, Lan, Desai and Buettner, "Fault-aware, utility-based job scheduling on Blue Gene/P systems", CLUSTER
    2009.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> float(Unicep.score(SimpleNamespace(now=20.0, submit=[0.0], request=[10.0], procs=[4]), 0))
    -1.0
    """

    name: ClassVar[str] = "unicep"

    @staticmethod
    def score(view, row):
        """Return the value of the formula, negated."""
        width = max(np.log2(view.procs[row]), 0.001)
        return -(view.now - view.submit[row]) / (width * max(view.request[row], 1.0))
