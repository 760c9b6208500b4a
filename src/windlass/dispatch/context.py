"""Constructor arguments that an engine offers to a dispatch policy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.policy.context import Context


@dataclass(frozen=True, slots=True)
class DispatchContext(Context):
    """The workers that tasks are dispatched to.

    Parameters
    ----------
    rng
        See :class:`~windlass.policy.context.Context`.
    workers
        Number of workers.
    rates
        (n,) true service rates, work/s, if the engine knows them.
    guaranteed
        Total service rate that the workers have at any time, work/s.
    """

    workers: int | None = None
    rates: NDArray[np.float64] | None = None
    guaranteed: float | None = None

    @classmethod
    def of(
        cls, speeds: NDArray[np.float64], rng: np.random.Generator, guaranteed: float | None = None
    ) -> DispatchContext:
        """Return the context of workers with these speeds, work/s; ``guaranteed`` defaults to their sum."""
        sure = float(speeds.sum()) if guaranteed is None else guaranteed
        return cls(rng, len(speeds), speeds, sure)
