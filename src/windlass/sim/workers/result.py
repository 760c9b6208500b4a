"""The result of a dispatch simulation."""

from __future__ import annotations

from dataclasses import dataclass, field

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
        (t,) arrival of each task, and the time from then to its end, s; NaN for a task that was refused.
    job_response
        (jobs,) time from the arrival of each job to the end of its last task, s; NaN if one of its tasks was refused.
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
        (t,) start and worker of each task's last run, NaN and -1 for a task that was refused; empty if not recorded.
    refusals
        Number of tasks that were refused because all nodes rejected them.
    site
        (t,) where each task ran if its site spills tasks to others: -1 at the site itself, else the number of the
        target; empty if it spills none. ``worker`` is a worker of that site.
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
    refusals: int = 0
    site: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def spilled(self) -> int:
        """Number of tasks that ran at another site."""
        return int((self.site >= 0).sum())

    @property
    def refused(self) -> NDArray[np.bool_]:
        """(t,) whether each task was refused."""
        found: NDArray[np.bool_] = np.isnan(self.response)
        return found

    @property
    def mean(self) -> float:
        """Mean response time of jobs without a refused task, s; NaN if there are none."""
        known = self._known()
        return float(known.mean()) if known.size else float("nan")

    def percentile(self, share: float) -> float:
        """Return a percentile of the response times of jobs without a refused task, s; NaN if there are none.

        Parameters
        ----------
        share
            The percentage, 0 to 100.
        """
        known = self._known()
        return float(np.percentile(known, share)) if known.size else float("nan")

    @property
    def end(self) -> NDArray[np.float64]:
        """(t,) end of each task, s; NaN for a task that was refused."""
        return self.submit + self.response

    def _known(self) -> NDArray[np.float64]:
        """Return the response times of jobs without a refused task, s."""
        return self.job_response[~np.isnan(self.job_response)] if self.refusals else self.job_response
