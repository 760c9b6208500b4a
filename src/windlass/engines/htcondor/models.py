"""Jobs and slots as HTCondor lists them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from windlass.engines.batch.holds.site import HoldPhase
from windlass.engines.batch.system import JobOwner

#: The attribute of a job that names the queue of Windlass that it waits in.
QUEUE = "WindlassQueue"
#: Code of the hold of a job that was submitted on hold, and of one that ``condor_hold`` sets.
SUBMITTED, BY_COMMAND = 15, 1
#: Subcode of holds that a driver sets with ``condor_hold``.
OURS = 9453
#: Values of ``JobStatus``.
IDLE, REMOVED, COMPLETED, HELD, SUSPENDED = 1, 3, 4, 5, 7
#: The universe of ordinary jobs, of those in containers too.
VANILLA = 5
#: How long a released job may stay idle before it is held again, s: ten cycles of the negotiator.
MATCH_S = 600.0
#: States of slots on which no jobs start.
_AWAY = frozenset(["Owner", "Drained", "Backfill", "Delete"])


@dataclass(frozen=True, slots=True)
class CondorJob:
    """A job.

    Parameters
    ----------
    job
        Its identifier, such as ``12.0``.
    status
        HTCondor's ``JobStatus``.
    created
        Unix time of its submission, s.
    procs
        Requested CPUs; once it runs, those that it holds.
    queue
        The queue of Windlass that it was submitted to; empty for none.
    universe
        HTCondor's ``JobUniverse``.
    request
        The longest run time that it is allowed, s; infinity without one.
    since
        Unix time from which on it has its status, s; NaN if it is unknown.
    start
        Unix time of its last start, s; NaN if it waits.
    runs
        How often it began to run.
    code, subcode, reason
        Why it is held.
    name, owner
        Its name; its user, account and queue.
    """

    job: str
    status: int
    created: float
    procs: int
    queue: str = ""
    universe: int = VANILLA
    request: float = math.inf
    since: float = math.nan
    start: float = math.nan
    runs: int = 0
    code: int = 0
    subcode: int = 0
    reason: str = ""
    name: str = ""
    owner: JobOwner = field(default_factory=JobOwner)

    @property
    def queued(self) -> float:
        """Unix time of its submission, s."""
        return self.created

    @property
    def rank(self) -> tuple[int, int]:
        """The numbers of its cluster and process."""
        cluster, _, process = self.job.partition(".")
        return int(cluster), int(process)

    @property
    def phase(self) -> HoldPhase:
        """Its phase; a suspended job, and one that transfers its output, still count as running."""
        if self.status in (REMOVED, COMPLETED):
            return HoldPhase.OVER
        return HoldPhase.WAITS if self.status in (0, IDLE, HELD) else HoldPhase.RUNS

    @property
    def deleted(self) -> bool:
        """True if it was removed."""
        return self.status == REMOVED

    @property
    def suspended(self) -> bool:
        """True if it is suspended."""
        return self.status == SUSPENDED

    @property
    def held(self) -> bool:
        """True if it was submitted on hold, or a driver holds it.

        >>> CondorJob("12.0", HELD, 0.0, 1, code=SUBMITTED).held, CondorJob("12.0", HELD, 0.0, 1, code=BY_COMMAND).held
        (True, False)
        """
        by_driver = (self.code, self.subcode) == (BY_COMMAND, OURS)
        return self.status == HELD and (self.code == SUBMITTED or by_driver)

    @property
    def holdable(self) -> bool:
        """True if it is idle: a job has one hold, and that of others must not be replaced."""
        return self.status == IDLE

    @property
    def part(self) -> bool:
        """False: each job of a cluster is one of its own."""
        return False

    @property
    def array(self) -> bool:
        """False: see :attr:`part`."""
        return False

    def bars(self, now: float) -> str:
        """Return why it is held, if not for Windlass; empty otherwise.

        >>> CondorJob("12.0", HELD, 0.0, 1, code=BY_COMMAND, reason="via condor_hold (by user ann)").bars(5.0)
        'it is held: via condor_hold (by user ann)'
        """
        if self.status != HELD or self.held:
            return ""
        return f"it is held: {self.reason[:100] or f'code {self.code}'}"

    def obstacle(self, now: float) -> str:
        """Return that it has been idle for long; HTCondor does not name the reason for which no slot takes a job."""
        idle = self.status == IDLE and now - self.since > MATCH_S
        return f"no slot took it within {MATCH_S:g} s" if idle else ""

    def procs_on(self, nodes: Mapping[str, int]) -> int:
        """Return the CPUs that it holds."""
        return self.procs


@dataclass(frozen=True, slots=True)
class CondorSlot:
    """A slot.

    Parameters
    ----------
    name
        Its name.
    procs
        Its CPUs; of a partitionable slot, with those of its dynamic slots.
    dynamic
        True if its CPUs are those of a partitionable slot.
    state
        HTCondor's ``State``.
    schedd
        The queue whose job holds it; empty for none.
    offline
        True if its machine sleeps.
    backfill
        True if its CPUs are those of other slots, whose jobs evict its own.
    """

    name: str
    procs: int
    dynamic: bool = False
    state: str = "Unclaimed"
    schedd: str = ""
    offline: bool = False
    backfill: bool = False

    @property
    def up(self) -> bool:
        """True if jobs may start on it, once it has idle CPUs."""
        return self.state not in _AWAY and not self.offline
