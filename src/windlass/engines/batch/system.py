"""The protocol of a batch system's adapter: it reports jobs that wait, run and end, and starts them.

Users submit jobs to the system as usual, but held: none starts before the engine releases it. Job numbers are the
system's. Jobs that the system starts without the engine only hold processors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class JobOwner:
    """The user of a job, the account or group that it is charged to, and its queue, by name; empty if unknown."""

    user: str = ""
    account: str = ""
    queue: str = ""


#: The owner of a job whose system knows none.
NO_OWNER = JobOwner()


@dataclass(frozen=True, slots=True)
class Submitted:
    """A job waits to be started by the engine.

    Reported again when it changes: its user changed the request, or it ran and was requeued. A requeued job must be
    held again.

    Parameters
    ----------
    job
        The system's job number.
    at
        Its submit time, s; for a requeued job, the time of the requeue, so that it waits at the end. The queue has
        this order.
    procs
        Processors that it holds from start to end.
    request
        Requested run time, s; infinity without a limit.
    owner
        Its user, account and queue.
    """

    job: int
    at: float
    procs: int
    request: float
    owner: JobOwner = NO_OWNER


@dataclass(frozen=True, slots=True)
class Started:
    """A submitted job started running at ``at`` (s), possibly some time after ``start()``."""

    job: int
    at: float


@dataclass(frozen=True, slots=True)
class Ended:
    """A running job ended at ``at`` (s), on its own or at its limit. Its processors are idle."""

    job: int
    at: float


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A waiting or running job was cancelled at ``at`` (s). It holds no processors, and has no further events."""

    job: int
    at: float


@dataclass(frozen=True, slots=True)
class Holds:
    """A job runs that the engine did not start: another user's, or one from before the engine's start.

    Parameters
    ----------
    job, procs, request, owner
        See :class:`Submitted`.
    at
        When it started, s.
    """

    job: int
    at: float
    procs: int
    request: float
    owner: JobOwner = NO_OWNER


@dataclass(frozen=True, slots=True)
class Resized:
    """From ``at`` (s) on, a running job holds other processors than were reported: as many as the system gave it."""

    job: int
    at: float
    procs: int


@dataclass(frozen=True, slots=True)
class Delayed:
    """A job that holds processors was suspended for ``seconds`` more (s), which do not count against its request."""

    job: int
    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Capacity:
    """The site's processors from now on, without those that are down or drained.

    They may be fewer than running jobs hold: jobs on a drained node continue.
    """

    processors: int


@dataclass(frozen=True, slots=True)
class NoMore:
    """No more jobs will be submitted, so the run ends with the last job. A system in service never sends it."""


Event = Submitted | Started | Ended | Cancelled | Holds | Resized | Delayed | Capacity | NoMore


class BatchSystem(Protocol):
    """A site's batch system as seen by an engine. It knows no policy.

    All times are seconds on the system's own clock.
    """

    @property
    def processors(self) -> int:
        """The site's processors when the engine starts, without those that are down or drained."""
        ...

    def now(self) -> float:
        """Return the time on the system's clock, s."""
        ...

    def poll(self, timeout: float) -> list[Event]:
        """Return the events since the last call, in order; wait up to ``timeout`` (s) for one.

        It may return early without events. With a timeout of 0 it returns pending events, and after enough calls none.
        The first calls report all jobs that wait or run. ``Started`` comes before ``Ended``, however short a job was.
        """
        ...

    def start(self, jobs: Sequence[int]) -> Mapping[int, str]:
        """Release these held jobs, in this order; returns at once, and ``Started`` follows for each.

        Returns
        -------
        An error message for each job that cannot run now, by job; it stays held. A job that was cancelled meanwhile may
        or may not be among them: ``Cancelled`` is reported either way.
        """
        ...

    def describe(self, jobs: Sequence[int]) -> str:
        """Return the system's own command that :meth:`start` would run. It does nothing."""
        ...

    def close(self) -> None:
        """Stop what this object started itself, and no job; a second call has no effect."""
        ...
