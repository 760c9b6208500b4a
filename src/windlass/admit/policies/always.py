"""Admission of every task."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.view import Admission, AdmitView


class Always:
    """Accepts every task, as without admission control.

    Examples
    --------
    >>> import numpy as np
    >>> Always().decide(AdmitView(0.0, np.zeros(2))).reject
    False
    """

    name: ClassVar[str] = "always"

    def decide(self, view: AdmitView) -> Admission:
        """Accept."""
        return Admission(False, "every task is accepted")
