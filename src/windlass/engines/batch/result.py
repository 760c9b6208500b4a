"""What happened to the jobs of a batch system, and what would happen next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import JobTable


@dataclass(frozen=True, slots=True)
class BatchRun:
    """What happened to each job that was the engine's to start, in order of submission.

    Parameters
    ----------
    processors
        How many the site had at the end.
    job
        (n,) the system's numbers.
    submit, request
        (n,) when it was submitted and for how long it asked, s.
    procs
        (n,) processors.
    released
        (n,) when the system was told to start it, s; NaN where it never was.
    start, end
        (n,) s, as the system says; start is NaN for a job that never ran.
    cancelled
        (n,) whether it was cancelled, before or while it ran.
    why
        (n,) int64, index into ``reasons``: why the policy started it when it did; -1 where it did not.
    reasons
        The policy's reasons.
    decisions
        How often the policy was asked.
    """

    processors: int
    job: NDArray[np.int64]
    submit: NDArray[np.float64]
    request: NDArray[np.float64]
    procs: NDArray[np.int64]
    released: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    cancelled: NDArray[np.bool_]
    why: NDArray[np.int64]
    reasons: tuple[str, ...]
    decisions: int

    def ran(self) -> JobTable:
        """The jobs that ran, for as long as they did: what a simulator can be given to try another policy on.

        Examples
        --------
        >>> one, nan = np.ones(2), np.nan
        >>> run = BatchRun(4, np.array([7, 8]), one, one * 60, np.array([2, 9]), one * 3, np.array([4, nan]),
        ...     one * 9, np.array([False, True]), np.array([0, -1]), ("fits",), 2)
        >>> run.ran().job.tolist(), run.ran().run.tolist()
        ([7], [5.0])
        """
        rows = np.flatnonzero(np.isfinite(self.start))
        return JobTable(
            self.job[rows],
            self.submit[rows],
            (self.end - self.start)[rows],
            self.procs[rows],
            self.request[rows],
        )


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """What a policy would start now.

    Parameters
    ----------
    now
        The system's clock, s.
    jobs, procs, why
        In this order: the system's numbers, processors, and the reason of each.
    command
        How the system would be told to, in its own words.
    """

    now: float
    jobs: tuple[int, ...]
    procs: tuple[int, ...]
    why: tuple[str, ...]
    command: str

    def lines(self) -> list[str]:
        """A line for each job, then the command.

        >>> BatchPlan(5.0, (7,), (2,), ("head of the queue",), "release 7").lines()
        ['job 7, 2 processors: head of the queue', 'release 7']
        """
        rows = zip(self.jobs, self.procs, self.why, strict=True)
        return [f"job {job}, {procs} processors: {why}" for job, procs, why in rows] + [
            self.command for _ in self.jobs[:1]
        ]
