"""State of the instances, of their jobs, and the log of a run.

Each instance type has as many rows as the type's maximum number of instances; a row of the table holds one instance, or
none. Jobs with equal requests have the same *kind*. Each kind has its own queue, because no job of a kind fits where
its first job does not. All queues together are served in the order of submission.

A *gang* is a job that is larger than any type; it takes several whole instances.

Resources are integers, so that sums have no rounding errors: thousandths of GPUs and cores, and bytes.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit.schema import Scalars, column, numba_type
from windlass.sim.events.tree import TREE, EventTree
from windlass.sim.handle import opening
from windlass.sim.nodes import NODES, Nodes

#: Stages of a row: no instance, launched, up, and up without accepting jobs.
AWAY, STARTING, UP, LEAVING = range(4)
#: Reasons for which an instance ended: unneeded, failed to boot, taken by the provider.
IDLE, FAILED, INTERRUPTED = range(3)
#: The absence of a job, a row, or a reason.
NONE = -1
#: Thousandths of a core.
MILLI = 1000

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Bytes = NDArray[np.uint8]


class InstanceTable(NamedTuple):
    """Instances by row, and totals by type; rows count from the first ledger row of the site."""

    # First row of each type; the last entry is the number of rows.
    first: Annotated[_Ints, column("type_bounds")]
    # Row after the last row of each type that is not AWAY.
    top: Annotated[_Ints, column("types")]
    # Resources of an instance of each type: GPUs, cores, memory.
    capacity: Annotated[_Ints, column("types", 3)]
    # Whole cores of an instance of each type in the ledger.
    cores: Annotated[_Ints, column("types")]
    # Instances of each type that are STARTING, UP, UP with a job, and LEAVING.
    starting: Annotated[_Ints, column("types")]
    up: Annotated[_Ints, column("types")]
    occupied: Annotated[_Ints, column("types")]
    leaving: Annotated[_Ints, column("types")]
    # Instances of each type that the policy's last answer wants.
    wanted: Annotated[_Ints, column("types")]
    # Instances of each type that the provider allows now.
    limit: Annotated[_Ints, column("types")]
    # Stage of each row.
    stage: Annotated[_Ints, column("rows", fill=AWAY)]
    # Type of each row.
    kind: Annotated[_Ints, column("rows")]
    # Jobs on each instance.
    jobs: Annotated[_Ints, column("rows")]
    # The gang that has the whole instance, or NONE.
    owner: Annotated[_Ints, column("rows", fill=NONE)]
    # Line of the instance in the launch log.
    line: Annotated[_Ints, column("rows", fill=NONE)]
    # Resources that jobs use on each instance.
    used: Annotated[_Ints, column("rows", 3)]
    # Time since which an instance has been empty, or has had jobs (s); NaN while another part holds cores of it.
    since: Annotated[_Floats, column("rows")]
    # 1 if the launched instance will boot, 0 if it will fail.
    boots: Annotated[_Bytes, column("rows")]
    # Rows with more room than at the last placement of jobs, and a mark on each of them.
    changed: Annotated[_Ints, column("rows")]
    marked: Annotated[_Bytes, column("rows")]
    # Rows of which the idle time may be over. A row that is launched again at the same instant may be listed twice.
    expired: Annotated[_Ints, column("expired")]
    # Rows of which the instance ended, and of which other parts have to release cores.
    # Changes of `limit` by the provider: time (s), type, and new limit. The last time is infinity.
    cut_time: Annotated[_Floats, column("cuts")]
    cut_kind: Annotated[_Ints, column("cuts")]
    cut_limit: Annotated[_Ints, column("cuts")]


class QueueCounts(Scalars):
    """Numbers of a run.

    ``site`` and ``part`` are the site's and the part's number in the ledger. ``best_fit`` is 1 for best fit and 0 for
    first fit. ``shared`` is 1 if other parts may hold cores of the instances. ``after`` is the number of rows of the
    site before those of the instances. ``kept`` is 1 while other loads may need instances. ``keeper`` is the part that
    holds a share of each instance as long as it is up, or -1.

    ``submitted`` and ``ended`` count jobs, ``lost`` counts killed attempts, ``running`` and ``waiting`` count jobs now,
    and ``pieces`` counts pairs of a running job and an instance. ``next_sequence`` is the queue number of the next
    job, and ``decision_sequence`` its value at the policy's last decision.

    ``waiting_kinds``, ``changed`` and ``expired`` are the lengths of the lists with these names.
    ``launches`` and ``attempts`` are the lengths of the logs. ``cuts`` counts the changes of limits that have happened.

    ``decision_open`` is 1 from the time at which a decision is due until the policy's answer. ``slots_full`` is 1 if
    jobs could not start for lack of slots, which the part then adds.
    """

    site: int
    part: int
    best_fit: int
    shared: int
    after: int
    kept: int
    keeper: int = NONE
    submitted: int
    ended: int
    lost: int
    running: int
    waiting: int
    pieces: int
    next_sequence: int
    decision_sequence: int
    waiting_kinds: int
    changed: int
    expired: int
    launches: int
    attempts: int
    cuts: int
    decision_open: int
    slots_full: int


class QueueClock(Scalars):
    """Times of a run, s; infinity for never.

    ``now`` is the current instant, ``open_instant`` an instant with work left, and ``next_instant`` the next one at
    which anything happens. ``decision_due`` is the next periodic decision, ``next_poll`` the next poll, and
    ``poll_period`` the time from one poll to the next. ``first_decision`` and ``last_decision`` are the times of the
    first and the last decision; a poll counts as one. ``last_end`` is the time of the last end of a job.

    ``idle_limit`` is the time for which an unneeded instance may be empty. ``notice`` is the time from the provider's
    warning to an interruption. Until ``warm_until``, instances are up as soon as a job needs them. At
    ``next_check``, the other loads on the instances are read, in Python.
    """

    now: float = -np.inf
    open_instant: float = np.inf
    next_instant: float = np.inf
    decision_due: float = np.inf
    next_poll: float = np.inf
    next_check: float = np.inf
    poll_period: float = np.inf
    first_decision: float = np.inf
    last_decision: float = np.inf
    last_end: float = -np.inf
    idle_limit: float = np.inf
    notice: float = np.inf
    warm_until: float = np.inf


class Queues(NamedTuple):
    """Jobs by row, and their queues by kind."""

    # Submission time and run time of each job, s.
    submit: Annotated[_Floats, column("jobs")]
    run: Annotated[_Floats, column("jobs")]
    # Start and end of each job's current or successful attempt, s; NaN until known.
    start: Annotated[_Floats, column("jobs", fill=np.nan)]
    end: Annotated[_Floats, column("jobs", fill=np.nan)]
    # Kind of each job.
    job_kind: Annotated[_Ints, column("jobs")]
    # Number in the queue, which grows from job to job; a killed job gets a new one.
    sequence: Annotated[_Ints, column("jobs", fill=NONE)]
    # Next waiting job of the same kind.
    next_job: Annotated[_Ints, column("jobs", fill=NONE)]
    # First instance of a running job.
    first_row: Annotated[_Ints, column("jobs", fill=NONE)]
    # Leaf of a running job in the tree of ends.
    slot: Annotated[_Ints, column("jobs", fill=NONE)]
    # Resources that a job of each kind requests.
    vector: Annotated[_Ints, column("kinds", 3)]
    # Whole instances of a gang; 0 for other kinds.
    gang: Annotated[_Ints, column("kinds")]
    # The smallest type that a kind fits on; for a gang, its type.
    bucket: Annotated[_Ints, column("kinds")]
    # 1 where a kind may run on a type.
    welcome: Annotated[_Bytes, column("kinds", "types")]
    # First and last waiting job of each kind.
    head: Annotated[_Ints, column("kinds", fill=NONE)]
    tail: Annotated[_Ints, column("kinds", fill=NONE)]
    # 1 if no job of the kind waited at the last placement, so that unchanged instances may have room for it.
    fresh: Annotated[_Bytes, column("kinds")]
    # Submitted jobs of each kind that have not ended.
    unfinished: Annotated[_Ints, column("kinds")]
    # Kinds with waiting jobs, and the index of each kind in this list.
    waiting_kinds: Annotated[_Ints, column("kinds")]
    waiting_index: Annotated[_Ints, column("kinds")]
    # Kinds that may have room, while jobs are placed.
    open_kinds: Annotated[_Ints, column("kinds")]
    # Job of each slot.
    job_of: Annotated[_Ints, column("slots", fill=NONE)]
    # Slots; those from the number of running jobs on are free.
    free_slots: Annotated[_Ints, column("slots")]
    counts: Annotated[NDArray[np.void], QueueCounts]
    clock: Annotated[NDArray[np.void], QueueClock]


class InstanceLog(NamedTuple):
    """One line for each launch, and one for each instance of each attempt of a job."""

    # Type of the instance, and the reason for which it ended.
    kind: Annotated[_Ints, column("launches")]
    why: Annotated[_Ints, column("launches")]
    # Launch, readiness and end of the instance, s; NaN for never.
    launched: Annotated[_Floats, column("launches")]
    ready: Annotated[_Floats, column("launches")]
    gone: Annotated[_Floats, column("launches")]
    # Time for which the instance had jobs, s.
    busy: Annotated[_Floats, column("launches")]
    # Job and launch of the attempt, and its start and end, s.
    job: Annotated[_Ints, column("attempts")]
    launch: Annotated[_Ints, column("attempts")]
    began: Annotated[_Floats, column("attempts")]
    ended: Annotated[_Floats, column("attempts")]


class InstanceRun(NamedTuple):
    """A whole run."""

    # Ends of running jobs, by slot.
    ends: EventTree
    # Next change of each instance, by row: readiness, end of its idle time, interruption.
    turns: EventTree
    nodes: Nodes
    fleet: InstanceTable
    queues: Queues
    log: InstanceLog


RUN_STATE = types.NamedTuple(
    [TREE, TREE, NODES, numba_type(InstanceTable), numba_type(Queues), numba_type(InstanceLog)], InstanceRun
)
#: Reads a run from the address of its :class:`~windlass.sim.handle.Handle`. Functions that are not inlined get the
#: address, because a call copies every field of a run.
opened = opening(RUN_STATE)
