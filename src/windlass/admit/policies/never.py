"""Rejection of every task."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.lib.constant import ConstantPolicy
from windlass.admit.view import Admission

_ANSWER = Admission(True, "every task is rejected")


class Never(ConstantPolicy):
    """Rejects every task: the upper bound on recall, at maximum downtime.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.admit import AdmitView
    >>> Never().decide(AdmitView(0.0, np.zeros(2))).reject
    True
    """

    name: ClassVar[str] = "never"

    def __init__(self) -> None:
        super().__init__(_ANSWER)
