"""The outcome of a run on a live engine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.sim.fleet import FleetRun


@dataclass(frozen=True, slots=True)
class LiveRun(FleetRun):
    """The outcome of a run on a live engine.

    Parameters
    ----------
    launched, reported
        (T,) when the engine sent each task to its worker, and when its end was reported, s.
    worker
        (T,) the worker on which each task ran.
    tries
        (T,) how often it was sent.
    results
        Output of final tasks with real work: job, stage, task, bytes.
    """

    launched: NDArray[np.float64]
    reported: NDArray[np.float64]
    worker: NDArray[np.int64]
    tries: NDArray[np.int64]
    results: tuple[tuple[int, int, int, bytes], ...]
