"""What came out of a dispatch simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Dispatched:
    """What happened; t tasks, m samples, n workers.

    Parameters
    ----------
    policy
        Its name.
    submit, response
        (t,) when each task arrived, and how long until it ended, s.
    job_response
        (jobs,) how long until the last task of each job ended, s.
    longest_queue
        Most real tasks that were ever at one worker when a task was put there, waiting and running (a benchmark
        task in hand counts).
    sample_time
        (m,) when samples were taken, s.
    longest, waiting
        (m,) int64, tasks at the worker with the most, and at all workers together.
    estimates
        (m, n) rates that the first scheduler believed in, work/s; (m, 0) where it has no belief.
    benchmarks, dropped
        Benchmark tasks that ran, and those that were not taken in or were lost with their worker.
    moved
        Tasks (or reservations) that lost their worker and were dispatched again.
    start, worker
        (t,) when and where the run that ended each task began; empty unless asked for.
    """

    policy: str
    submit: NDArray[np.float64]
    response: NDArray[np.float64]
    job_response: NDArray[np.float64]
    longest_queue: int
    sample_time: NDArray[np.float64]
    longest: NDArray[np.int64]
    waiting: NDArray[np.int64]
    estimates: NDArray[np.float64]
    benchmarks: int
    dropped: int
    moved: int
    start: NDArray[np.float64]
    worker: NDArray[np.int64]

    @property
    def mean(self) -> float:
        """Mean response time of jobs, s."""
        return float(self.job_response.mean())

    def percentile(self, share: float) -> float:
        """The response time, s, that so many percent of jobs do not exceed."""
        return float(np.percentile(self.job_response, share))

    @property
    def end(self) -> NDArray[np.float64]:
        """(t,) when each task ended, s."""
        return self.submit + self.response
