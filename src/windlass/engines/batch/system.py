"""What an engine needs of a batch system: word of jobs that wait, run and end, and a way to start them.

Jobs are submitted to the system by its users, as ever, but held: none of them starts before the engine says so. Their
numbers are the system's. Jobs that the system starts by itself only hold processors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Submitted:
    """A job waits to be started by the engine.

    Told again when that changes: its user asked for something else, or it ran and was put back into the queue. A
    job that is put back must be held again.

    Parameters
    ----------
    job
        The system's number for it.
    at
        When it was submitted, s; of a job that was put back, when it was, so that it waits at the end. The queue is in
        this order.
    procs
        Processors that it holds from start to end.
    request
        The run time that its user asked for, s; infinity where there is no limit.
    """

    job: int
    at: float
    procs: int
    request: float


@dataclass(frozen=True, slots=True)
class Started:
    """A job that was submitted runs since then, s. That may be a while after it was told to start."""

    job: int
    at: float


@dataclass(frozen=True, slots=True)
class Ended:
    """A job that ran has ended, by itself or at its limit, s. Its processors are idle."""

    job: int
    at: float


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A job was cancelled, whether it waited or ran, s. It holds no processors, and nothing more is heard of it."""

    job: int
    at: float


@dataclass(frozen=True, slots=True)
class Holds:
    """A job that the engine did not start runs: not submitted to it, or from before it came. It ends as others do.

    Parameters
    ----------
    job, procs, request
        As of :class:`Submitted`.
    at
        When it started, s.
    """

    job: int
    at: float
    procs: int
    request: float


@dataclass(frozen=True, slots=True)
class Delayed:
    """A job that holds processors stood still for so many seconds more, which its request does not count: s."""

    job: int
    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Capacity:
    """The site has so many processors from now on, those left out that are down or drained.

    They may be fewer than running jobs hold: a drained node keeps what runs on it.
    """

    processors: int


@dataclass(frozen=True, slots=True)
class NoMore:
    """Nobody submits any more: when all jobs have ended, so has the run. A system in service never tells it."""


Event = Submitted | Started | Ended | Cancelled | Holds | Delayed | Capacity | NoMore


class BatchSystem(Protocol):
    """A site's batch system, as an engine drives it. It knows no policy.

    All times are seconds on one clock of the system's.
    """

    @property
    def processors(self) -> int:
        """How many the site has when the engine comes, those left out that are down or drained."""
        ...

    def now(self) -> float:
        """What the clock says, s."""
        ...

    def poll(self, timeout: float) -> list[Event]:
        """What has happened since, in that order; waits up to so many seconds for something to.

        It may return early with nothing. With 0 it returns what is there, and asked often enough, nothing. The first
        calls tell of all jobs that wait or run. ``Started`` comes before ``Ended``, however short a job was.
        """
        ...

    def start(self, jobs: Sequence[int]) -> Mapping[int, str]:
        """Let these held jobs run, in this order; returns at once, and ``Started`` follows for each.

        Returns
        -------
        Why each job that cannot run now cannot, by job; it stays held. A job that was cancelled meanwhile may be
        among them or not: its ``Cancelled`` is told either way.
        """
        ...

    def describe(self, jobs: Sequence[int]) -> str:
        """What :meth:`start` would do, in the words of the system's own commands. It does nothing."""
        ...

    def close(self) -> None:
        """Stop what this object itself started, and no job; more than once does no harm."""
        ...
