"""The outcome of a batch system's jobs, and plans of what to start next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import JobTable


@dataclass(frozen=True, slots=True)
class BatchRun:
    """The outcome of each job that the engine could start, in order of submission.

    Parameters
    ----------
    processors
        The site's processors at the end.
    job
        (n,) the system's job numbers.
    submit, request
        (n,) submit time and requested run time, s.
    procs
        (n,) processors.
    released
        (n,) when the engine released it, s; NaN if it never did.
    start, end
        (n,) s, as the system reported; start is NaN for a job that never ran.
    cancelled
        (n,) whether it was cancelled, before or while it ran.
    why
        (n,) int64, index into ``reasons``: why the policy started it when it did; -1 if it did not.
    reasons
        The policy's reasons.
    decisions
        How often the policy was called.
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
        """Return the jobs that ran, with their actual run times, as input for a simulation of other policies.

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
        In order of start: job numbers, processors, and reasons.
    command
        The system's command that would start them.
    """

    now: float
    jobs: tuple[int, ...]
    procs: tuple[int, ...]
    why: tuple[str, ...]
    command: str

    def lines(self) -> list[str]:
        """Return a line for each job, then the command.

        >>> BatchPlan(5.0, (7,), (2,), ("head of the queue",), "release 7").lines()
        ['job 7, 2 processors: head of the queue', 'release 7']
        """
        rows = zip(self.jobs, self.procs, self.why, strict=True)
        return [f"job {job}, {procs} processors: {why}" for job, procs, why in rows] + [
            self.command for _ in self.jobs[:1]
        ]
