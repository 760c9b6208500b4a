"""Instances, jobs and what happened to both, as arrays.

An instance is a row of the ledger; each type has as many rows as there may be instances of it. Jobs that ask for the
same are of one *kind*: where the first that waits of a kind has no room, none of them has. So a kind has a queue of its
own, and all are served by the order in which jobs were submitted.

What jobs ask for is counted in whole numbers: thousandths of GPUs and cores, and bytes. So nothing is left over by
rounding when they end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.sim.events.tree import TREE, EventTree
from windlass.sim.nodes import NODES, Nodes

#: Stages of an instance: none, launched, up, and up for those who are on it only.
AWAY, STARTING, UP, LEAVING = range(4)
#: Why an instance is gone: nobody needed it, it did not boot, its provider took it.
IDLE, FAILED, INTERRUPTED = range(3)
#: Columns of ``InstanceTable.number``: how many are starting, up, and of these hold a job; how many are up until
#: they are empty.
N_STARTING, N_UP, N_USED, N_LEAVING = range(4)
#: Columns of ``InstanceLog.times``: launched, ready, gone.
LAUNCHED, READY, GONE = range(3)
#: Places in ``Queues.counts``: the site's number and the part's in the ledger; jobs submitted, ended, attempts lost;
#: jobs running and waiting; kinds of which some wait; rows changed, and rows whose time is over; next number in the
#: queue; lines of both logs; interruptions so far; whether it is best fit and not first fit; whether a decision is due,
#: and whether others hold cores here; rows vacated; pieces that running jobs hold; whether there were too few
#: slots to start all who had room; the next number in the queue when the policy was asked last.
SITE, PART, SUBMITTED, ENDED, LOST, RUNNING, WAITING, KINDS, CHANGED, EXPIRED, SEQUENCE = range(11)
LAUNCHES, ATTEMPTS, CUT, BEST, ASKING, OTHERS, VACATED, PIECES, CROWDED, TOLD, COUNTS = range(11, 22)
#: Places in ``Queues.clock``: now; when the next decision is due; how long an instance may idle, and how long one is
#: warned before it is taken; when something happens next; an instant that is not over; until when instances are
#: there at once; the next look, and from one to the next (infinity for none); the first decision; when the policy
#: was asked last. All s.
NOW, DUE, KEEP, NOTICE, NEXT, OPEN, WARM, LOOK, EVERY, FIRST, ASKED, CLOCKS = range(12)
NOBODY = -1
#: Thousandths of a core.
MILLI = 1000


class InstanceTable(NamedTuple):
    """Instances; k types, r rows of the ledger. Rows are counted from the first one of the site.

    ``first`` (k + 1,), ``top`` (k,): a type's first row, and the one after its last that is not away. ``capacity``
    (k, 3), ``cores`` (k,): what one has, and whole cores of it in the ledger. ``number`` (k, 4): how many in which
    stage. ``wanted`` (k,): totals of the last answer. ``limit`` (k,): how many its provider lets be. ``stage``,
    ``kind``, ``jobs``, ``owner``, ``line`` (r,): of a row its stage, type, how many jobs are on it, the job that has
    all of it, and its line of the log. ``used`` (r, 3): by jobs. ``since`` (r,): since when it is empty, s. ``boots``
    (r,): whether it will. ``changed``, ``expired``, ``vacated`` (r,): rows that have more room than before, that were
    idle for long, and that were taken from those who were there; ``marked`` (r,): among the changed.
    ``cut_time``, ``cut_kind``, ``cut_limit``: what the provider does when.
    """

    first: NDArray[np.int64]
    top: NDArray[np.int64]
    capacity: NDArray[np.int64]
    cores: NDArray[np.int64]
    number: NDArray[np.int64]
    wanted: NDArray[np.int64]
    limit: NDArray[np.int64]
    stage: NDArray[np.int64]
    kind: NDArray[np.int64]
    jobs: NDArray[np.int64]
    owner: NDArray[np.int64]
    line: NDArray[np.int64]
    used: NDArray[np.int64]
    since: NDArray[np.float64]
    boots: NDArray[np.uint8]
    changed: NDArray[np.int64]
    marked: NDArray[np.uint8]
    expired: NDArray[np.int64]
    vacated: NDArray[np.int64]
    cut_time: NDArray[np.float64]
    cut_kind: NDArray[np.int64]
    cut_limit: NDArray[np.int64]


class Queues(NamedTuple):
    """Jobs, n of them, of c kinds.

    ``submit``, ``run``, ``start``, ``end`` (n,): s, the latter NaN until known, of the attempt that ended.
    ``job_kind``, ``sequence``, ``after``, ``where``, ``slot`` (n,): its kind, its number in the queue, who follows of
    its kind, the first row it is on, and its leaf in the tree of ends. ``vector`` (c, 3), ``gang`` (c,): what a kind
    asks for, and how many whole instances where it is more than one has (0 where not). ``bucket`` (c,): the smallest
    type that has it, or that of the gang. ``welcome`` (c, k): on which types it may run. ``head``, ``tail``
    (c,): who waits. ``fresh`` (c,): whether nobody of it waited before. ``alive`` (c,): how many wait or run. ``some``
    (c,): kinds of which jobs wait, ``place`` (c,): where a kind is among them. ``open`` (c,): those that may have room
    now. ``job_of``, ``spare``: whose a slot is, and slots that are nobody's.
    """

    submit: NDArray[np.float64]
    run: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    job_kind: NDArray[np.int64]
    sequence: NDArray[np.int64]
    after: NDArray[np.int64]
    where: NDArray[np.int64]
    slot: NDArray[np.int64]
    vector: NDArray[np.int64]
    gang: NDArray[np.int64]
    bucket: NDArray[np.int64]
    welcome: NDArray[np.uint8]
    head: NDArray[np.int64]
    tail: NDArray[np.int64]
    fresh: NDArray[np.uint8]
    alive: NDArray[np.int64]
    some: NDArray[np.int64]
    place: NDArray[np.int64]
    open: NDArray[np.int64]
    job_of: NDArray[np.int64]
    spare: NDArray[np.int64]
    counts: NDArray[np.int64]
    clock: NDArray[np.float64]


class InstanceLog(NamedTuple):
    """What happened: a line a launch, and one for each instance that an attempt of a job was on.

    ``kind``, ``why``, ``times`` (l, 3): type, why it is gone, and when it was launched, ready and gone; NaN for never.
    ``busy`` (l,): for how long it held a job, s. ``job``, ``launch``, ``began``, ``ended`` (a,): of attempts.
    """

    kind: NDArray[np.int64]
    why: NDArray[np.int64]
    times: NDArray[np.float64]
    busy: NDArray[np.float64]
    job: NDArray[np.int64]
    launch: NDArray[np.int64]
    began: NDArray[np.float64]
    ended: NDArray[np.float64]


class InstanceRun(NamedTuple):
    """All of it: ends of jobs, what is next at each row, the ledger, instances, jobs, and logs."""

    ends: EventTree
    turns: EventTree
    nodes: Nodes
    fleet: InstanceTable
    queues: Queues
    log: InstanceLog


_I, _I2, _F, _F2, _U8 = (
    types.int64[::1],
    types.int64[:, ::1],
    types.float64[::1],
    types.float64[:, ::1],
    types.uint8[::1],
)
_KINDS = {
    **dict.fromkeys(("capacity", "number", "used", "vector"), _I2),
    **dict.fromkeys(("boots", "marked", "fresh"), _U8),
    **dict.fromkeys(
        ("since", "cut_time", "submit", "run", "start", "end", "clock", "busy", "began", "ended"), _F
    ),
    "times": _F2,
    "welcome": types.uint8[:, ::1],
}
FLEET, QUEUES, LOG = (
    types.NamedTuple([_KINDS.get(field, _I) for field in kind._fields], kind)
    for kind in (InstanceTable, Queues, InstanceLog)
)
RUN_STATE = types.NamedTuple([TREE, TREE, NODES, FLEET, QUEUES, LOG], InstanceRun)
