"""Rejection of every task."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.site import AdmitSiteView, Reads, SiteAdmission, alike
from windlass.admit.view import Admission, AdmitView

_ANSWER = Admission(True, "every task is rejected")


class Never:
    """Rejects every task: the upper bound on recall, at maximum downtime.

    Examples
    --------
    >>> import numpy as np
    >>> Never().decide(AdmitView(0.0, np.zeros(2))).reject
    True
    """

    name: ClassVar[str] = "never"
    reads: ClassVar[Reads] = Reads(metrics=False, tasks=False)

    def decide(self, view: AdmitView) -> Admission:
        """Reject."""
        return _ANSWER

    def decide_all(self, view: AdmitSiteView) -> SiteAdmission:
        """Reject on each node."""
        return alike(_ANSWER, len(view.present))
