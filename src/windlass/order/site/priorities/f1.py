"""F1: a formula found by regression over simulated schedules."""

from typing import ClassVar

import numpy as np


class F1:
    """F1: the least log10(requested time) × processors + 870 × log10(time of submission) goes first.

    Times are in seconds, and less than a second counts as one. The time of submission counts from the start of the
    clock, which is the start of a log. On a live engine it is seconds since 1970, so that it hardly differs between
    jobs.

    Source: Carastan-Santos and de Camargo, "Obtaining dynamic scheduling policies with simulation and machine
    learning", SC 2017.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> float(F1.score(SimpleNamespace(submit=[10.0], request=[100.0], procs=[4]), 0))
    878.0
    """

    name: ClassVar[str] = "f1"

    @staticmethod
    def score(view, row):
        """Return the value of the formula."""
        length, age = max(view.request[row], 1.0), max(view.submit[row], 1.0)
        return np.log10(length) * view.procs[row] + 870.0 * np.log10(age)
