"""Admission of every task."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.site import AdmitSiteView, Reads, SiteAdmission, alike
from windlass.admit.view import Admission, AdmitView

_ANSWER = Admission(False, "every task is accepted")


class Always:
    """Accepts every task, as without admission control.

    Examples
    --------
    >>> import numpy as np
    >>> Always().decide(AdmitView(0.0, np.zeros(2))).reject
    False
    """

    name: ClassVar[str] = "always"
    reads: ClassVar[Reads] = Reads(metrics=False, tasks=False)

    def decide(self, view: AdmitView) -> Admission:
        """Accept."""
        return _ANSWER

    def decide_all(self, view: AdmitSiteView) -> SiteAdmission:
        """Accept on each node."""
        return alike(_ANSWER, len(view.present))
