"""What a live router asks of a dispatch policy."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Learner(Protocol):
    """A dispatch policy that learns rates from completions."""

    def arrived(self, now: float) -> None:
        """A task arrived at ``now``, s."""

    def choose(self, queue_lengths: NDArray[np.int64]) -> int:
        """The worker for it."""

    def completed(self, worker: int, work: float, seconds: float) -> None:
        """A worker did ``work`` in ``seconds``."""

    @property
    def rates(self) -> NDArray[np.float64] | None:
        """(n,) work/s; None for a policy that learns none."""

    @property
    def arrival_rate(self) -> float:
        """Tasks/s."""

    @property
    def accuracy(self) -> float:
        """Share that ``rates`` are held back by."""
