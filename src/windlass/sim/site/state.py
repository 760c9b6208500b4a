"""A site's queue and running jobs as arrays; the ledger records which cores each job holds.

Jobs are rows of the columns in :class:`SiteState`. A running job has a *slot*, a leaf of the tree of ends.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit.schema import Scalars, column, numba_type
from windlass.order.site.compiled import SELECT, SELECT_BY_INDEX
from windlass.sim.cores import Pieces
from windlass.sim.events.tree import EventTree
from windlass.sim.nodes import Nodes

NO_SLOT = -1
#: The row of no job.
NO_ROW = -1
#: Seconds by which rounding may be off, for each second on the clock.
ROUNDING = 8.0 * np.finfo(np.float64).eps
#: Marks a job named in an answer while the answer is validated.
NAMED = -2

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_Shorts = NDArray[np.int32]


class SiteCounts(Scalars):
    """Counts and settings of a site.

    The queue is ``queue[queue_head:queue_tail]``. ``running``: running jobs. ``refused``: jobs at the head of the queue
    that the last decision left waiting, with no cores freed since; ``settled``: length of the queue at the last
    decision if this started no job, else 0. ``submitted``, ``ended``: jobs; ``lost``: killed attempts. ``site``,
    ``part``: numbers in the ledger. ``in_python``: 1 if the policy runs in Python.
    ``idle_before``, ``owed_before``: idle and owed cores when the part last read the ledger. ``answered``,
    ``wanted``: jobs in an answer that is still to be carried out, and their cores. ``pieces_logged``: lines in use of
    ``pieces_log``; ``records``: 1 if that log is kept. ``rated``: 1 if speeds of jobs may change. ``counts_use``: 1 if
    the use of each user is counted. ``whole``: the site's cores at full capacity. ``indexed``: 1 while the queue has an
    index, see :mod:`~windlass.sim.site.long_queue`; ``holes``: holes of the queue, which the index allows.
    """

    queue_head: int
    queue_tail: int
    running: int
    refused: int
    submitted: int
    ended: int
    settled: int
    lost: int
    site: int
    part: int
    in_python: int
    idle_before: int
    owed_before: int
    answered: int
    wanted: int
    pieces_logged: int
    records: int
    rated: int
    counts_use: int
    whole: int
    indexed: int
    holes: int


class SiteClock(Scalars):
    """Instants of a site, s; infinity for never.

    ``now``; ``decision_due``: when the policy is to be called; ``next_instant``: the next event or decision;
    ``use_counted``: the instant up to which ``used`` counts. ``half_life``: the half-life of past use, s.
    ``freed_until``: time up to which cores were released since the last decision.
    """

    now: float = -np.inf
    decision_due: float = np.inf
    next_instant: float = np.inf
    use_counted: float = -np.inf
    half_life: float = np.inf
    freed_until: float = -np.inf


class SiteState(NamedTuple):
    """State of one site.

    Axes: ``jobs``; ``rated``, as long as ``jobs`` if speeds may change and 0 otherwise; ``limited``, the same for
    limits; ``slots``, jobs that can run at a time; ``lost``, killed attempts; ``lines``, pieces that attempts took.
    ``classes``, ``levels``, ``nodes``: those of the queue's index, 0 if the policy uses none.
    Columns whose entries are written before they are read are not cleared, which saves some ns per job.
    """

    submit: Annotated[_Floats, column("jobs")]  # submission, s
    held: Annotated[_Floats, column("jobs")]  # how long the job holds its processors at full speed, s
    work: Annotated[_Floats, column("jobs")]  # how long it runs at full speed, s
    limit: Annotated[_Floats, column("limited", fill=np.inf)]  # after how long it is stopped, s
    rate: Annotated[_Floats, column("rated", fill=None)]  # speed of a running job, of full speed
    since: Annotated[_Floats, column("rated", fill=None)]  # when the job took this speed, s
    left: Annotated[_Floats, column("rated", fill=None)]  # run time left at ``since`` at full speed, s
    pace: Annotated[_Floats, column("rated", fill=None)]  # seconds of its request that pass per second
    allowance: Annotated[_Floats, column("rated", fill=None)]  # seconds of its request left at ``since``
    stop: Annotated[_Floats, column("rated", fill=None)]  # when the job is stopped at this pace, s
    host: Annotated[_Rows, column("rated", fill=NO_ROW)]  # the job on whose processors it runs
    guest: Annotated[_Rows, column("rated", fill=NO_ROW)]  # the job that runs on its processors
    procs: Annotated[_Rows, column("jobs")]  # processors; of a running host, without its guest's
    request: Annotated[_Floats, column("jobs")]  # requested time, s
    note: Annotated[_Floats, column("jobs", fill=np.nan)]  # a number that the policy keeps with the job
    expected_end: Annotated[_Floats, column("jobs", fill=None)]  # of a running job, s
    start: Annotated[_Floats, column("jobs", fill=np.nan)]  # of the attempt that ended, s
    end: Annotated[_Floats, column("jobs", fill=np.nan)]  # of the attempt that ended, s
    why: Annotated[_Rows, column("jobs")]  # the policy's reason code
    queue: Annotated[_Rows, column("jobs", fill=None)]  # waiting jobs
    running: Annotated[_Rows, column("slots")]  # running jobs, by expected end and processors
    slot: Annotated[_Shorts, column("jobs", fill=NO_SLOT)]  # of a running job
    row_of: Annotated[_Rows, column("slots")]  # the job of a slot
    spare: Annotated[_Shorts, column("slots")]  # ``spare[running:]``: free slots
    lost: Annotated[_Rows, column("lost")]  # jobs of killed attempts
    lost_times: Annotated[_Floats, column("lost", 2)]  # their starts and ends, s
    pieces_log: Annotated[_Floats, column("lines", 4)]  # job, node, cores, start (s)
    chosen: Annotated[_Rows, column("jobs", fill=None)]  # the answer: queue positions
    reason: Annotated[_Rows, column("jobs", fill=None)]  # the answer: reason codes
    counts: Annotated[NDArray[np.void], SiteCounts]
    clock: Annotated[NDArray[np.void], SiteClock]
    owner: Annotated[_Shorts, column(3, "jobs", fill=-1)]  # users, groups and queues of jobs
    used: Annotated[_Floats, column("users")]  # processor-seconds that each user has had
    using: Annotated[_Floats, column("users")]  # processors that each user holds
    given: Annotated[_Floats, column("numbers")]  # the policy's own numbers
    pools: Annotated[_Rows, column("pools")]  # free amount of each resource other than processors
    needs: Annotated[_Rows, column("pools", "jobs")]  # what each job needs of it
    bounds: Annotated[_Rows, column("classes")]  # of the index of a long queue, as the next two
    levels: Annotated[_Rows, column("levels")]
    shortest: Annotated[_Floats, column("nodes", "classes", fill=None)]


class SiteRun(NamedTuple):
    """A site with its policy's functions, the ends of its running jobs, the ledger, and what jobs hold of it."""

    select: Annotated[object, SELECT]
    select_by_index: Annotated[object, SELECT_BY_INDEX]
    tree: EventTree
    nodes: Nodes
    pieces: Pieces
    site: SiteState


SITE_RUN = numba_type(SiteRun)
