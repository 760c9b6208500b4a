"""A site: the queue, and what runs, by expected end and processors; who holds which cores is in the ledger.

Jobs are rows of the columns in :class:`SiteState`. A job that runs has a *slot*, a leaf of the tree of ends.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.order.site.compiled import SELECT
from windlass.sim.cores import PIECES, Pieces
from windlass.sim.events.tree import TREE, EventTree
from windlass.sim.nodes import NODES, Nodes

#: Places in ``SiteState.counts``: the queue is ``queue[HEAD:TAIL]``; running jobs; leading queue entries that the last
#: decision left waiting, with nothing freed since; jobs submitted, ended, and attempts lost; the site's number and the
#: part's in the ledger; whether the policy is asked in Python; how many cores were idle, and owed, when last looked at;
#: how many jobs an answer names that is still to be carried out, and how many cores they want; lines of ``pieces_log``,
#: and whether it is kept; whether speeds of jobs may change; whether what users have had is kept; the site's cores when
#: it is whole.
HEAD, TAIL, RUNNING, REFUSED, SUBMITTED, ENDED, LOST, SITE, PART, PYTHON = range(10)
SEEN, OWED, ANSWERED, WANTED, NOTED, RECORD, RATED, USES, WHOLE, COUNTS = range(10, 20)
#: Places in ``SiteState.clock``: now; when a decision is due; when something happens next; up to when ``used`` counts;
#: after how long what was used counts half; s, and infinity for never.
NOW, DUE, NEXT, USED_AT, HALF_LIFE, CLOCKS = range(6)
NO_SLOT = -1
#: No job's row.
NO_ROW = -1
#: Seconds by which rounding may be off, for each second on the clock.
ROUNDING = 8.0 * np.finfo(np.float64).eps
#: Marks a job that is named in an answer, while the answer is checked.
NAMED = -2


class SiteState(NamedTuple):
    """State of one site; all columns have one entry per job unless said otherwise.

    ``submit``, ``held``: when jobs come and for how long they hold their processors at full speed, s. ``work``,
    ``limit``: how long they run at full speed, and after how long they are stopped, s. ``rate``, ``since``,
    ``left``: of running jobs, their speed, since when they have it, and what was left to run then at full speed, s.
    ``pace``, ``allowance``, ``stop``: how many seconds of its request pass in a second, what was left of it at
    ``since``, and when the job is stopped if that stays so. ``host``, ``guest``: the row of the job on whose
    processors it runs, and of the one that runs on its own; NO_ROW for none. These eight are empty where speeds
    never change. ``queue`` and ``running`` hold rows; ``running``, ``row_of`` and ``spare`` have room for as many
    jobs as can run. ``start`` and ``end`` are NaN until known, of the attempt that ended; ``why`` is the policy's
    reason code. ``slot``: of a running job. ``row_of``: whose a slot is; ``spare[RUNNING:]``: slots that are
    nobody's. ``lost``, ``lost_times`` (m,), (m, 2): rows, starts and ends of attempts that were killed.
    ``pieces_log`` (l, 4): a job's row, a node, cores, start, a line for each piece that an attempt took.
    ``chosen``, ``reason``: the policy's answer. ``owner`` (3, n): users, groups and queues of jobs. ``used``, ``using``
    (users,): processor-seconds that each has had, and processors that each holds. ``given``: the policy's own numbers.
    ``pools`` (k,), ``needs`` (k, n): what is free of each resource beside processors, and what each job asks for of it.
    """

    submit: NDArray[np.float64]
    held: NDArray[np.float64]
    work: NDArray[np.float64]
    limit: NDArray[np.float64]
    rate: NDArray[np.float64]
    since: NDArray[np.float64]
    left: NDArray[np.float64]
    pace: NDArray[np.float64]
    allowance: NDArray[np.float64]
    stop: NDArray[np.float64]
    host: NDArray[np.int64]
    guest: NDArray[np.int64]
    procs: NDArray[np.int64]
    request: NDArray[np.float64]
    note: NDArray[np.float64]
    expected_end: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    why: NDArray[np.int64]
    queue: NDArray[np.int64]
    running: NDArray[np.int64]
    slot: NDArray[np.int32]
    row_of: NDArray[np.int64]
    spare: NDArray[np.int32]
    lost: NDArray[np.int64]
    lost_times: NDArray[np.float64]
    pieces_log: NDArray[np.float64]
    chosen: NDArray[np.int64]
    reason: NDArray[np.int64]
    counts: NDArray[np.int64]
    clock: NDArray[np.float64]
    owner: NDArray[np.int32]
    used: NDArray[np.float64]
    using: NDArray[np.float64]
    given: NDArray[np.float64]
    pools: NDArray[np.int64]
    needs: NDArray[np.int64]


class SiteRun(NamedTuple):
    """A site with its policy's function, the ends of its running jobs, the ledger, and what jobs hold of it."""

    select: object
    tree: EventTree
    nodes: Nodes
    pieces: Pieces
    site: SiteState


_I, _F, _I32 = types.int64[::1], types.float64[::1], types.int32[::1]
_KINDS = {
    **dict.fromkeys(
        (
            "submit",
            "held",
            "work",
            "limit",
            "rate",
            "since",
            "left",
            "pace",
            "allowance",
            "stop",
            "request",
            "note",
            "expected_end",
            "start",
            "end",
            "clock",
            "used",
            "using",
            "given",
        ),
        _F,
    ),
    **dict.fromkeys(("slot", "spare"), _I32),
    "owner": types.int32[:, ::1],
    "needs": types.int64[:, ::1],
    **dict.fromkeys(("lost_times", "pieces_log"), types.float64[:, ::1]),
}
SITE_STATE = types.NamedTuple([_KINDS.get(field, _I) for field in SiteState._fields], SiteState)
SITE_RUN = types.NamedTuple([types.FunctionType(SELECT), TREE, NODES, PIECES, SITE_STATE], SiteRun)
