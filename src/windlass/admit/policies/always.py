"""Takes every task."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.view import Admission, AdmitView


class Always:
    """Every task is taken, as without any admission.

    Examples
    --------
    >>> import numpy as np
    >>> Always().decide(AdmitView(0.0, np.zeros(2))).reject
    False
    """

    name: ClassVar[str] = "always"

    def decide(self, view: AdmitView) -> Admission:
        """Yes."""
        return Admission(False, "every task is taken")
