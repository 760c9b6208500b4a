"""The result of a dispatch simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Dispatched:
    """Result for t tasks and n workers, with m samples.

    Parameters
    ----------
    policy
        Name of the policy.
    submit, response
        (t,) arrival of each task, and the time from then to its end, s.
    job_response
        (jobs,) time from the arrival of each job to the end of its last task, s.
    longest_queue
        Most tasks that a worker had just after one was sent to it: the real tasks that wait, and the running task.
    sample_time
        (m,) time of each sample, s.
    longest, waiting
        (m,) int64, tasks at the worker with most, and at all workers; both include running tasks.
    estimates
        (m, n) rates that the first scheduler estimates, work/s; (m, 0) if its policy does not estimate them.
    benchmarks, dropped
        Benchmark tasks that ran, and those dropped because their queue was full or their worker failed.
    moved
        Tasks (or reservations) that lost their worker and were dispatched again.
    start, worker
        (t,) start and worker of each task's last run; empty if not recorded.
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
        """Return a percentile of the response times of jobs, s.

        Parameters
        ----------
        share
            The percentage, 0 to 100.
        """
        return float(np.percentile(self.job_response, share))

    @property
    def end(self) -> NDArray[np.float64]:
        """(t,) end of each task, s."""
        return self.submit + self.response
