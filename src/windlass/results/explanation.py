"""The wait of one job, decision by decision, and the interface of explanations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from windlass.model.calendar import Calendar


class Explanation(Protocol):
    """What ``windlass explain`` prints on one job."""

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the job as a whole."""
        ...

    def moments(self, everything: bool) -> tuple[str, ...]:
        """Return a line for each event that concerns the job; with ``everything``, also for those of little effect."""
        ...

    def tree(self) -> dict[str, Any]:
        """Return everything as plain values."""
        ...

    def check(self, where: str, row: dict[str, Any]) -> str:
        """Return how the repeated run differs from the table; empty if it does not.

        Parameters
        ----------
        where
            The job's name, with which the text begins.
        row
            The job's row of the table.
        """
        ...


@dataclass(frozen=True, slots=True)
class StartExplanation:
    """A job that a decision started.

    Parameters
    ----------
    job, procs
        Job number and number of processors.
    before
        True if the job was ahead of the explained job in the waiting queue.
    why
        The policy's reason.
    """

    job: int
    procs: int
    before: bool
    why: str


@dataclass(frozen=True, slots=True)
class Moment:
    """One scheduling decision while the explained job waited.

    Parameters
    ----------
    at
        Time of the decision, s.
    place
        Number of jobs ahead of it in the waiting queue, before the decision.
    idle, left
        Idle processors before and after the decision.
    running
        Number of running jobs before the decision.
    ended
        Jobs that ended since the previous decision; empty at the first one.
    started
        Jobs that the decision started.
    promise
        Latest start time that the policy promises the job, s; infinity if the job is wider than what is left of the
        site, NaN without a promise.
    short
        Resources of which less is idle after the decision than the job requests; empty if the decision starts the job,
        or if jobs request only processors.
    """

    at: float
    place: int
    idle: int
    left: int
    running: int
    ended: tuple[int, ...]
    started: tuple[StartExplanation, ...]
    promise: float = math.nan
    short: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WaitExplanation:
    """A job's wait: all scheduling decisions from its submission to its start.

    Parameters
    ----------
    job, procs
        Job number and requested processors.
    processors
        Processors of the site.
    submit, start
        Times of submission and start, s.
    request
        Requested run time, s.
    expected
        Run time that the policy expected, s; the request if there is no better estimate.
    why
        The policy's reason to start the job.
    moments
        The decisions in order of time; the last one starts the job.
    beside
        Requests for resources other than processors, such as ``1 of 8 GPUs``; empty if jobs request only processors.
    job_ids
        Identifier in the log of each job that is mentioned, by number; empty if jobs have numbers only.
    calendar
        The date of time 0 and the zone of the log; None if they are unknown.

    Examples
    --------
    >>> started = (StartExplanation(7, 3, True, "fits"),)
    >>> moment = Moment(at=5.0, place=0, idle=4, left=1, running=0, ended=(), started=started)
    >>> WaitExplanation(7, 3, 4, submit=5.0, start=5.0, request=60.0, expected=60.0, why="fits", moments=(moment,)).wait
    0.0
    """

    job: int
    procs: int
    processors: int
    submit: float
    start: float
    request: float
    expected: float
    why: str
    moments: tuple[Moment, ...]
    beside: tuple[str, ...] = ()
    job_ids: Mapping[int, str] = field(default_factory=dict)
    calendar: Calendar | None = None

    def name(self, job: int) -> str:
        """Return the identifier of a job in the log, or else its number."""
        return self.job_ids.get(job, str(job))

    def mentioned(self) -> frozenset[int]:
        """Return the numbers of all jobs that occur in the explanation."""
        started = (each.job for moment in self.moments for each in moment.started)
        return frozenset({self.job, *started, *(job for moment in self.moments for job in moment.ended)})

    @property
    def wait(self) -> float:
        """Time from submission to start, s."""
        return self.start - self.submit
