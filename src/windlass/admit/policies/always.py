"""Admission of every task."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.lib.constant import ConstantPolicy
from windlass.admit.view import Admission

_ANSWER = Admission(False, "every task is accepted")


class Always(ConstantPolicy):
    """Accepts every task, as without admission control.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.admit import AdmitView
    >>> Always().decide(AdmitView(0.0, np.zeros(2))).reject
    False
    """

    name: ClassVar[str] = "always"

    def __init__(self) -> None:
        super().__init__(_ANSWER)
