"""The base class of policies that learn rates, and the split of their state over several schedulers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch.compiled import CompiledDispatch, benchmarking, changing
from windlass.dispatch.lib import learner as learn
from windlass.dispatch.state import (
    BENCHMARK_AT,
    BENCHMARK_WORK,
    JOINED,
    NOW,
    PRESENT,
    RATES_AT,
    WORKERS,
    arrival_rate,
    below,
    change_members,
    draw,
    low_half,
    member,
)
from windlass.jit import Kernel, helper


@helper
def change_learned(kind, worker, ints, floats):
    """Update the list of present workers; nothing is known of one that is back."""
    if kind == JOINED:
        learn.clear_window(worker, ints, floats)
        floats[ints[RATES_AT] + worker] = floats[learn.GUARANTEED] / ints[WORKERS]
    change_members(kind, worker, ints)


def _changed(kind, worker, rate, ints, floats):
    change_learned(kind, worker, ints, floats)
    return 0


def _benchmark(now, ints, floats):
    floats[NOW] = max(floats[NOW], now)
    learn.take_load(ints, floats)
    learn.schedule_benchmark(now, ints, floats)
    if ints[PRESENT] == 0:
        return -1
    bits = draw(ints)
    floats[BENCHMARK_WORK] = learn.recent_size(ints, floats, low_half(bits) % learn.SIZES)
    return member(ints, below(bits, ints[PRESENT]))


class Learning(CompiledDispatch):
    """A policy with the learner of :mod:`windlass.dispatch.lib.learner`."""

    changing: ClassVar[Kernel] = changing(_changed)
    benchmarking: ClassVar[Kernel] = benchmarking(_benchmark)

    def split(
        self, schedulers: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return states for several schedulers: each sees its share of arrivals, and knows the total guarantee."""
        ints, floats = super().split(schedulers, rng)
        if schedulers > 1:
            floats[:, learn.PART] /= schedulers
            floats[:, BENCHMARK_AT] *= rng.uniform(0.5, 1.5, schedulers) * schedulers
        return ints, floats

    @property
    def arrival_rate(self) -> float:
        """Estimated tasks per second (λ̂); 0 before the second arrival, infinity if all arrived at one instant."""
        return float(arrival_rate.py_func(self.ints, self.floats))

    @property
    def load(self) -> float:
        """Estimated load, as a share of the guaranteed throughput (α̂), clamped."""
        return float(self.floats[learn.LOAD])

    @property
    def accuracy(self) -> float:
        """Target accuracy ε of estimates; rates are multiplied by 1 − ε."""
        return float(self.floats[learn.EPSILON])

    @property
    def estimated_rates(self) -> NDArray[np.float64] | None:
        """(n,) estimates of the workers' rates, work/s, not reduced by ε."""
        rates = self.rates
        return None if rates is None else rates / (1.0 - self.accuracy)
