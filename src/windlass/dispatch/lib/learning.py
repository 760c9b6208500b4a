"""What policies that learn rates say of what they believe, and how several of them share the workers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch.compiled import CompiledDispatch
from windlass.dispatch.lib import learner as learn
from windlass.dispatch.state import BENCHMARK_AT, arrival_rate


class Learning(CompiledDispatch):
    """A policy on the learner of :mod:`windlass.dispatch.lib.learner`."""

    def split(
        self, schedulers: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """State for so many schedulers: each sees its part of the arrivals, and knows what all workers guarantee."""
        ints, floats = super().split(schedulers, rng)
        if schedulers > 1:
            floats[:, learn.PART] /= schedulers
            floats[:, BENCHMARK_AT] *= rng.uniform(0.5, 1.5, schedulers) * schedulers
        return ints, floats

    @property
    def arrival_rate(self) -> float:
        """Estimated tasks per second (λ̂); 0 before the second, infinity where the last all came at one time."""
        return float(arrival_rate.py_func(self.ints, self.floats))

    @property
    def load(self) -> float:
        """Estimated share of the guaranteed throughput that is asked for (α̂), clamped."""
        return float(self.floats[learn.LOAD])

    @property
    def accuracy(self) -> float:
        """Accuracy ε that estimates aim at; rates are held back by it."""
        return float(self.floats[learn.EPSILON])
