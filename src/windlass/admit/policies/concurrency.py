"""Admission by a constant concurrency limit."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.site import AdmitSiteView, Reads, SiteAdmission, alike
from windlass.admit.view import Admission, AdmitView
from windlass.model.values import whole


class Concurrency:
    """Limits the tasks at once to a constant, as the thread pool of a server or the circuit breaker of a proxy does.

    Parameters
    ----------
    limit
        Most tasks that the node has at once, running and waiting.

    Raises
    ------
    InputError
        The limit is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> Concurrency(limit=3).decide(AdmitView(0.0, np.zeros(2))).limit
    3
    """

    name: ClassVar[str] = "concurrency"
    reads: ClassVar[Reads] = Reads(metrics=False, tasks=False)

    def __init__(self, limit: int = 4) -> None:
        self.last = Admission(False, f"the limit is {limit}", float(limit), whole("limit", limit, 1))

    def decide(self, view: AdmitView) -> Admission:
        """Return the limit."""
        return self.last

    def decide_all(self, view: AdmitSiteView) -> SiteAdmission:
        """Return the limit for each node."""
        return alike(self.last, len(view.present))
