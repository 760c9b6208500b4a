"""What a batch system with holds lists and changes: jobs, processors, and the commands of its adapter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, Self

from windlass.engines.batch.status import Contact
from windlass.engines.batch.system import JobOwner
from windlass.model import BatchError, InputError


class SystemAwayError(BatchError):
    """The batch system does not answer, so the state of its jobs is unknown."""


class HoldPhase(Enum):
    """Whether a job waits, runs or has ended."""

    WAITS = "waits"
    RUNS = "runs"
    OVER = "over"


class HeldJob(Protocol):
    """A job as its system lists it."""

    @property
    def job(self) -> str:
        """Its identifier."""
        ...

    @property
    def rank(self) -> tuple[int, int]:
        """Its place among jobs of one time."""
        ...

    @property
    def phase(self) -> HoldPhase:
        """Its phase; an exiting or suspended job still counts as running."""
        ...

    @property
    def queue(self) -> str:
        """The queue that it is in."""
        ...

    @property
    def created(self) -> float:
        """Unix time of its submission, s."""
        ...

    @property
    def queued(self) -> float:
        """Unix time of its arrival in the queue, s."""
        ...

    @property
    def procs(self) -> int:
        """Processors that it requests, or holds."""
        ...

    @property
    def request(self) -> float:
        """Requested run time, s; infinity without one."""
        ...

    @property
    def start(self) -> float:
        """Unix time of its start, s; NaN if it did not start."""
        ...

    @property
    def runs(self) -> int:
        """How often it was started."""
        ...

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def owner(self) -> JobOwner:
        """Its user, account and queue."""
        ...

    @property
    def deleted(self) -> bool:
        """True if it has ended because it was deleted."""
        ...

    @property
    def suspended(self) -> bool:
        """True if it is suspended."""
        ...

    @property
    def held(self) -> bool:
        """True if it has the hold of a driver."""
        ...

    @property
    def holdable(self) -> bool:
        """True if a driver may set its hold: it waits, and no hold of others would be lost."""
        ...

    @property
    def part(self) -> bool:
        """True for an array of jobs, and for a job of one."""
        ...

    @property
    def array(self) -> bool:
        """True for an array of jobs as a whole, whose jobs hold the processors."""
        ...

    def bars(self, now: float) -> str:
        """Return what keeps it from starting after its release; empty for nothing."""
        ...

    def obstacle(self, now: float) -> str:
        """Return why it does not start although it was released, unless for lack of room; empty for nothing."""
        ...

    def procs_on(self, nodes: Mapping[str, int]) -> int:
        """Return the processors that it holds on these nodes; those that it requests if its nodes are unknown."""
        ...


@dataclass(frozen=True, slots=True)
class HoldCapacity:
    """Processors for jobs of a queue.

    Parameters
    ----------
    up
        Those on which jobs may start, once they are idle.
    nodes
        All of them, by node.
    """

    up: int
    nodes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class HoldWords:
    """Names of a system's things, for messages.

    Parameters
    ----------
    system
        The system.
    command
        The command of Windlass that drives it.
    holder
        The party that holds and releases jobs by hand.
    nodes
        The nodes that jobs may use.
    no_nodes
        The error if there are none.
    array
        How an array of jobs is released by hand.
    """

    system: str
    command: str
    holder: str
    nodes: str
    no_nodes: str
    array: str = ""


class HoldSite(Protocol):
    """A queue of a batch system. Each call raises :class:`SystemAwayError` if the system stays unreachable."""

    @property
    def words(self) -> HoldWords:
        """Names for messages."""
        ...

    @property
    def queue(self) -> str:
        """The queue whose held jobs are released."""
        ...

    @property
    def contact(self) -> Contact:
        """Whether the system answers."""
        ...

    def identity(self) -> str:
        """Return the name of the queue that no other queue has."""
        ...

    def patient(self, seconds: float) -> Self:
        """Return this queue with another patience while the system does not answer, s."""
        ...

    def waiting(self, sleep: Callable[[float], None]) -> Self:
        """Return this queue with another function that waits before a command is tried again."""
        ...

    def jobs(self, report: Callable[[InputError], None]) -> dict[str, HeldJob]:
        """Return all jobs of all queues that have not ended; pass the error of each that cannot be read."""
        ...

    def capacity(self, report: Callable[[InputError], None]) -> HoldCapacity:
        """Return the processors for jobs of the queue; pass the error of each node that cannot be read."""
        ...

    def ended(self, job: str) -> HeldJob | None:
        """Return a job that is no longer listed; None if it is unknown. InputError if it cannot be read."""
        ...

    def release(self, jobs: Sequence[str]) -> dict[str, str]:
        """Lift the driver's hold of these jobs; return a message for each whose release may have failed."""
        ...

    def hold(self, jobs: Sequence[str]) -> dict[str, str]:
        """Set the driver's hold of waiting jobs; return a message for each whose hold may have failed."""
        ...

    def is_gone(self, why: str) -> bool:
        """Return whether a message about a job means that it does not exist any more."""
        ...

    def describe(self, jobs: Sequence[str]) -> str:
        """Return the command that would release these jobs."""
        ...
