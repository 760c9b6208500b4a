"""What a live router asks of a dispatch policy."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Dispatcher(Protocol):
    """What every dispatch policy does."""

    def arrived(self, now: float) -> None:
        """A task arrived at ``now``, s."""

    def choose(self, queue_lengths: NDArray[np.int64]) -> int:
        """The worker for it."""

    def completed(self, worker: int, work: float, seconds: float) -> None:
        """A worker did ``work`` in ``seconds``."""


class Learner(Dispatcher, Protocol):
    """A dispatch policy that learns rates from completions."""

    @property
    def rates(self) -> NDArray[np.float64] | None:
        """(n,) work/s; None for a policy that learns none."""

    @property
    def arrival_rate(self) -> float:
        """Tasks/s."""

    @property
    def accuracy(self) -> float:
        """Share that ``rates`` are held back by."""


def try_out(policy: Dispatcher) -> None:
    """Use a policy of two workers once, so that it is compiled before a task waits for it."""
    policy.arrived(0.0)
    policy.completed(policy.choose(np.zeros(2, np.int64)), 1.0, 1.0)
