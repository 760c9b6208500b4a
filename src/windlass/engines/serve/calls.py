"""The methods of a dispatch policy that a live router calls."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Dispatcher(Protocol):
    """The methods of every dispatch policy."""

    def arrived(self, now: float) -> None:
        """Record that a task arrived at ``now``, s."""

    def choose(self, queue_lengths: NDArray[np.int64]) -> int:
        """Return the worker for the task."""

    def completed(self, worker: int, work: float, seconds: float) -> None:
        """Record that a worker did ``work`` in ``seconds``."""


class Learner(Dispatcher, Protocol):
    """A dispatch policy that may learn rates from completions."""

    @property
    def rates(self) -> NDArray[np.float64] | None:
        """(n,) work/s, by which the policy decides; None for a policy that learns no rates."""

    @property
    def estimated_rates(self) -> NDArray[np.float64] | None:
        """(n,) work/s, without the margin that ``rates`` may have."""


def try_out(policy: Dispatcher) -> None:
    """Call a policy of two workers once, so that it is compiled before a task waits for it."""
    policy.arrived(0.0)
    policy.completed(policy.choose(np.zeros(2, np.int64)), 1.0, 1.0)
