"""Jobs and vnodes as PBS lists them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from windlass.engines.batch.holds.site import HoldPhase
from windlass.engines.batch.system import JobOwner

#: The hold of a driver: "other". Users set ``u``; PBS, for dependencies, and managers set ``s``.
OURS = "o"
#: States of vnodes on which jobs may start, or already fill the vnode.
_UP = frozenset(["free", "busy", "job-busy", "job-exclusive", "job-sharing", "resv-exclusive"])
#: States of a job that waits: queued, held, waiting for a time, in transit.
_WAITS = frozenset("QHWT")
#: States of a job after its end: finished, moved, an ended subjob.
_OVER = frozenset("FMX")
#: The substate of a job that was deleted.
_DELETED = 91
#: States of a suspended job: by the scheduler or an operator, or by the activity of a workstation's user.
_SUSPENDED = frozenset("SU")
#: Begin of the scheduler's comment on a job that cannot start now, and on one that never can.
_NOT_NOW, _NEVER = "Not Running: ", "Can Never Run"
#: Parts of these comments, in lower case, on jobs that start once there is room.
_ROOM = (
    "insufficient amount of resource",
    "not enough free nodes",
    "too few free resources",
    "reservation or top job",
    "strict sorted order",
    "starving job",
)


@dataclass(frozen=True, slots=True)
class PbsJob:
    """A job.

    Parameters
    ----------
    job
        Its identifier, such as ``12.server`` or ``12[3].server``.
    state
        One of PBS's letters, such as ``Q``.
    queue
        The queue that it is in.
    created, queued
        Unix times of its submission, and of its arrival in the queue, s.
    procs
        Requested CPUs, of all chunks.
    request
        Requested walltime, s; infinity without one.
    start
        Unix time of its start, s; NaN if it did not start.
    holds
        Its holds, of ``u``, ``o``, ``s`` and ``p``.
    runs
        How often it was started.
    waits_until
        Unix time before which it may not start, s; 0 for none.
    comment
        The scheduler's comment.
    vnodes
        CPUs on each vnode while it runs.
    substate
        PBS's number of a finer state.
    name, owner
        Its name; its user, account and queue.
    """

    job: str
    state: str
    queue: str
    created: float
    queued: float
    procs: int
    request: float = math.inf
    start: float = math.nan
    holds: frozenset[str] = frozenset()
    runs: int = 0
    waits_until: float = 0.0
    comment: str = ""
    vnodes: Mapping[str, int] = field(default_factory=dict)
    substate: int = 0
    name: str = ""
    owner: JobOwner = field(default_factory=JobOwner)

    @property
    def phase(self) -> HoldPhase:
        """Its phase; an exiting or suspended job still counts as running."""
        if self.state in _OVER:
            return HoldPhase.OVER
        return HoldPhase.WAITS if self.state in _WAITS else HoldPhase.RUNS

    @property
    def deleted(self) -> bool:
        """True if it has ended because it was deleted."""
        return self.phase is HoldPhase.OVER and self.substate == _DELETED

    @property
    def suspended(self) -> bool:
        """True if it is suspended."""
        return self.state in _SUSPENDED

    @property
    def held(self) -> bool:
        """True if it has the hold of a driver."""
        return OURS in self.holds

    @property
    def holdable(self) -> bool:
        """True: PBS keeps the driver's hold apart from others."""
        return True

    @property
    def rank(self) -> tuple[int, int]:
        """The number in its identifier."""
        digits = self.job.partition(".")[0].partition("[")[0]
        return int(digits) if digits.isdecimal() else 0, 0

    @property
    def part(self) -> bool:
        """True for a job array, and for a subjob of one."""
        return "[" in self.job

    @property
    def array(self) -> bool:
        """True for a job array as a whole, whose subjobs hold the CPUs."""
        return "[]" in self.job

    def bars(self, now: float) -> str:
        """Return what keeps a job from starting after its release; empty for nothing.

        >>> PbsJob("12.s", "H", "q", 0.0, 0.0, 1, holds=frozenset("uo")).bars(5.0)
        'it has hold u'
        """
        others = "".join(sorted(self.holds - {OURS}))
        if others:
            return f"it has hold {others}"
        return "it waits for its execution time" if self.waits_until > now else ""

    def obstacle(self, now: float) -> str:
        """Return the scheduler's reason for which a released job does not start, unless the reason is lack of room.

        >>> PbsJob("12.s", "Q", "q", 0.0, 0.0, 1, comment="Not Running: Queue not started.").obstacle(5.0)
        'Not Running: Queue not started.'
        """
        words = self.comment.lower()
        if self.comment.startswith(_NEVER):
            return self.comment
        waits = self.comment.startswith(_NOT_NOW) and not any(part in words for part in _ROOM)
        return self.comment if waits else ""

    def procs_on(self, nodes: Mapping[str, int]) -> int:
        """Return the CPUs that it holds on these vnodes; those that it requests if its vnodes are unknown."""
        if not self.vnodes:
            return self.procs
        return sum(procs for name, procs in self.vnodes.items() if name in nodes)


@dataclass(frozen=True, slots=True)
class PbsNode:
    """A vnode.

    Parameters
    ----------
    name
        Its name.
    procs
        Its CPUs.
    states
        Its states, in PBS's words.
    queue
        The queue whose jobs alone may use it; empty for none.
    """

    name: str
    procs: int
    states: tuple[str, ...]
    queue: str = ""

    @property
    def up(self) -> bool:
        """True if jobs may start on it, once it has idle CPUs."""
        return all(state in _UP for state in self.states)
