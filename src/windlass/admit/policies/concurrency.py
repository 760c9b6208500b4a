"""Admission by a constant concurrency limit."""

from __future__ import annotations

from typing import ClassVar

from windlass.admit.lib.constant import ConstantPolicy
from windlass.admit.view import Admission
from windlass.model.values import whole


class Concurrency(ConstantPolicy):
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
    >>> from windlass.admit import AdmitView
    >>> Concurrency(limit=3).decide(AdmitView(0.0, np.zeros(2))).limit
    3
    """

    name: ClassVar[str] = "concurrency"

    def __init__(self, limit: int = 4) -> None:
        super().__init__(Admission(False, f"the limit is {limit}", float(limit), whole("limit", limit, 1)))
