"""Takes no task."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.view import Admission, AdmitView


class Never:
    """No task is taken: the bound that every signal has in recall, and its price.

    Examples
    --------
    >>> import numpy as np
    >>> Never().decide(AdmitView(0.0, np.zeros(2))).reject
    True
    """

    name: ClassVar[str] = "never"

    def decide(self, view: AdmitView) -> Admission:
        """No."""
        return Admission(True, "no task is taken")
