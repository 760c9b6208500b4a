"""Slurm's jobs and nodes, as :mod:`~windlass.engines.slurm.listing` reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import msgspec

from windlass.engines.batch.system import JobOwner

#: The first word of the comment of a job that Windlass may start.
OPT_IN = "windlass"
#: Further words of that comment: the job may share an allocation; it may be requeued and restarted.
SHARES, RESTARTS = "share", "restart"
#: Slurm's reason for a job held by an administrator; jobs held by their user have other reasons.
_BARRED = "JobHeldAdmin"

_OVER = frozenset(
    [
        "COMPLETED",
        "CANCELLED",
        "FAILED",
        "TIMEOUT",
        "NODE_FAIL",
        "PREEMPTED",
        "BOOT_FAIL",
        "DEADLINE",
        "OUT_OF_MEMORY",
        "REVOKED",
    ]
)
#: States of a job that holds no processors and is not over.
WAITS = frozenset(["PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"])


class Phase(Enum):
    """The phase of a job: waiting, holding processors, or over."""

    WAITS = "waits"
    RUNS = "runs"
    OVER = "over"


class JobRow(msgspec.Struct, frozen=True, gc=False):
    """A job as Slurm lists it; not a dataclass, which takes 20 times as long to make.

    Parameters
    ----------
    job
        Slurm's job number; for a task of an array, the task's own.
    state, reason
        Slurm's words, such as ``PENDING`` and ``JobHeldUser``.
    submit, start, end
        Unix times in whole seconds; 0 if unknown. For a requeued job, ``submit`` is the time of the requeue.
    limit
        Its time limit, s; infinity without a limit.
    procs
        Processors: while it waits, those that it requests; afterwards, those that Slurm allocated. For an array that is
        not split yet, those of one task.
    nodes
        Its nodes as Slurm writes them, such as ``n[1-4]``; empty while it waits.
    memory
        Memory requested on all its nodes, bytes; 0 without a request.
    name, comment, user, account, qos, partition
        As submitted; the account and the quality of service are empty at a site that has none.
    held
        True if it waits and must be released first.
    restarts
        How often it was requeued.
    requeues
        True if Slurm may requeue it.
    many
        True if it is a job array, a task of one, or a heterogeneous job.
    suspended
        Unix time of the last suspension or resumption; 0 without any.
    ran_before
        How long it had run until then, s.
    description, dependency
        Slurm's explanation of its state, and the jobs that it waits for, in Slurm's notation.
    whole_nodes
        The least number of nodes of which it gets all processors; 0 if it may share nodes with other jobs.
    """

    job: int
    state: str
    reason: str
    submit: float
    start: float
    end: float
    limit: float
    procs: int
    nodes: str
    memory: int
    name: str
    comment: str
    user: str
    partition: str
    held: bool
    restarts: int
    requeues: bool
    many: bool
    suspended: float = 0.0
    ran_before: float = 0.0
    description: str = ""
    dependency: str = ""
    account: str = ""
    qos: str = ""
    whole_nodes: int = 0

    @property
    def owner(self) -> JobOwner:
        """Its user and account, and its quality of service as its queue."""
        return JobOwner(self.user, self.account, self.qos)

    @property
    def barred(self) -> bool:
        """True if an administrator holds it, so that only an administrator may release it."""
        return self.held and self.reason == _BARRED

    @property
    def phase(self) -> Phase:
        """Its phase; a completing job still holds its processors."""
        if self.state in _OVER:
            return Phase.OVER
        return Phase.WAITS if self.state in WAITS else Phase.RUNS

    @property
    def opted_in(self) -> bool:
        """True if its user lets Windlass start it."""
        return self.comment.split()[:1] == [OPT_IN] and not self.many

    @property
    def shares(self) -> bool:
        """True if its user allows it to share an allocation."""
        return self.opted_in and SHARES in self.comment.split()

    @property
    def may_restart(self) -> bool:
        """True if its user and Slurm allow it to be requeued."""
        return self.opted_in and RESTARTS in self.comment.split() and self.requeues

    def is_in(self, partition: str | None) -> bool:
        """Return whether it was submitted to a partition, or to several of which this is one; None is any."""
        return partition is None or partition in self.partition.split(",")

    @property
    def cancelled(self) -> bool:
        """True if it was cancelled."""
        return self.state in ("CANCELLED", "REVOKED")

    def paused(self, now: float) -> float:
        """Return how long it was suspended since its start, s; its time limit does not count this time."""
        if not self.suspended or not self.start:
            return 0.0
        ran = self.ran_before + (0.0 if self.state == "SUSPENDED" else max(0.0, now - self.suspended))
        return max(0.0, now - self.start - ran)

    @property
    def ran(self) -> bool:
        """True if a finished job ever ran."""
        return bool(self.nodes) and self.start > 0


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node: name, processors, whether jobs may start on it, partitions, memory in bytes, and host.

    ``condition`` is ``up``, or why no job may start on it, such as ``drained`` or ``down``, for people. ``threads`` is
    the number of processors of a core.
    """

    name: str
    procs: int
    up: bool
    partitions: tuple[str, ...]
    memory: int = 0
    host: str = ""
    condition: str = field(default="", compare=False)
    threads: int = 1
