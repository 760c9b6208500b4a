"""Rejection of every task."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.view import Admission, AdmitView


class Never:
    """Rejects every task: the upper bound on recall, at maximum downtime.

    Examples
    --------
    >>> import numpy as np
    >>> Never().decide(AdmitView(0.0, np.zeros(2))).reject
    True
    """

    name: ClassVar[str] = "never"

    def decide(self, view: AdmitView) -> Admission:
        """Reject."""
        return Admission(True, "every task is rejected")
