"""A site: the queue, and what runs, by expected end and processors; who holds which cores is in the ledger.

Jobs are rows of the columns in :class:`SiteState`. A job that runs has a *slot*, a leaf of the tree of ends.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.compiled import inlined, slicing
from windlass.order.site.compiled import SELECT
from windlass.sim.cores import PIECES, Pieces, give_back, take
from windlass.sim.events.tree import TREE, Tree, schedule_any
from windlass.sim.nodes import NODES, Nodes

#: Places in ``SiteState.counts``: the queue is ``queue[HEAD:TAIL]``; running jobs; leading queue entries that the last
#: decision left waiting, with nothing freed since; jobs submitted, ended, and attempts lost; the site's number and the
#: part's in the ledger; whether the policy is asked in Python; how many cores were idle, and owed, when last looked at;
#: how many jobs an answer names that is still to be carried out, and how many cores they want; lines of ``pieces_log``,
#: and whether it is kept; whether speeds of jobs may change.
HEAD, TAIL, RUNNING, REFUSED, SUBMITTED, ENDED, LOST, SITE, PART, PYTHON = range(10)
SEEN, OWED, ANSWERED, WANTED, NOTED, RECORD, RATED, COUNTS = range(10, 18)
#: Places in ``SiteState.clock``: now; when a decision is due; when something happens next; s, and infinity for never.
NOW, DUE, NEXT, CLOCKS = range(4)
NO_SLOT = -1
#: Seconds by which rounding may be off, for each second on the clock.
ROUNDING = 8.0 * np.finfo(np.float64).eps
#: Marks a job that is named in an answer, while the answer is checked.
NAMED = -2


class SiteState(NamedTuple):
    """State of one site; all columns have one entry per job unless said otherwise.

    ``submit``, ``held``: when jobs come and for how long they hold their processors at full speed, s. ``work``,
    ``limit``: how long they run at full speed, and after how long they are stopped, s. ``rate``, ``since``, ``left``:
    of running jobs, their speed, since when they have it, and what was left to run then at full speed, s; these three
    are empty where speeds never change. ``queue`` and ``running`` hold
    rows; ``running``, ``row_of`` and ``spare`` have room for as many jobs as can run. ``start`` and ``end`` are NaN
    until known, of the attempt that ended; ``why`` is the policy's reason code. ``slot``: of a running job. ``row_of``:
    whose a slot is; ``spare[RUNNING:]``: slots that are nobody's. ``lost``, ``lost_times`` (m,), (m, 2): rows, starts
    and ends of attempts that were killed. ``pieces_log`` (l, 4): a job's row, a node, cores, start, a line for each
    piece that an attempt took. ``chosen``, ``reason``: the policy's answer.
    """

    submit: NDArray[np.float64]
    held: NDArray[np.float64]
    work: NDArray[np.float64]
    limit: NDArray[np.float64]
    rate: NDArray[np.float64]
    since: NDArray[np.float64]
    left: NDArray[np.float64]
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


class SiteRun(NamedTuple):
    """A site with its policy's function, the ends of its running jobs, the ledger, and what jobs hold of it."""

    select: object
    tree: Tree
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
            "request",
            "note",
            "expected_end",
            "start",
            "end",
            "clock",
        ),
        _F,
    ),
    **dict.fromkeys(("slot", "spare"), _I32),
    **dict.fromkeys(("lost_times", "pieces_log"), types.float64[:, ::1]),
}
SITE_STATE = types.NamedTuple([_KINDS.get(field, _I) for field in SiteState._fields], SiteState)
SITE_RUN = types.NamedTuple([types.FunctionType(SELECT), TREE, NODES, PIECES, SITE_STATE], SiteRun)


@inlined
def look(run):
    """Note how many cores are idle now, and how many are owed."""
    counts = run.site.counts
    counts[SEEN], counts[OWED] = run.nodes.total[counts[SITE]], run.nodes.owed[counts[SITE]]


@slicing
def waiting_rows(site):
    """Rows of the queue, in the order in which they came to it."""
    return site.queue[site.counts[HEAD] : site.counts[TAIL]]


@slicing
def running_rows(site):
    """Rows of running jobs, by expected end, then processors."""
    return site.running[: site.counts[RUNNING]]


@inlined
def enqueue(site, row):
    """A job comes to the end of the queue."""
    counts = site.counts
    if counts[TAIL] == len(site.queue):
        # Only where jobs came more than once: the queue moves to the front of its array.
        for place in range(counts[HEAD], counts[TAIL]):
            site.queue[place - counts[HEAD]] = site.queue[place]
        counts[TAIL] -= counts[HEAD]
        counts[HEAD] = 0
    site.queue[counts[TAIL]] = row
    counts[TAIL] += 1


@inlined
def _place_of(site, row):
    """Where a row belongs among the running: behind all that are expected to end earlier, or then and are no wider."""
    end, procs = site.expected_end[row], site.procs[row]
    low, high = 0, site.counts[RUNNING]
    while low < high:
        middle = (low + high) >> 1
        other = site.running[middle]
        other_end = site.expected_end[other]
        if other_end < end or (other_end == end and site.procs[other] <= procs):
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _note_pieces(run, row, slot, now):
    """Keep what a job takes where."""
    site, pieces, counts = run.site, run.pieces, run.site.counts
    first, piece = run.nodes.first[counts[SITE]], np.int64(pieces.chain[slot])
    node, cores = np.int64(pieces.last_row[slot]), np.int64(pieces.last_cores[slot])
    while True:
        line = site.pieces_log[counts[NOTED]]
        line[0], line[1], line[2], line[3] = row, node - first, cores, now
        counts[NOTED] += 1
        if piece < 0:
            break
        node, cores, piece = (
            np.int64(pieces.row[piece]),
            np.int64(pieces.cores[piece]),
            np.int64(pieces.after[piece]),
        )


@inlined
def start_job(run, row, now):
    """A job takes its processors."""
    site, counts = run.site, run.site.counts
    site.start[row] = now
    site.expected_end[row] = now + site.request[row]
    place = _place_of(site, row)
    for other in range(counts[RUNNING], place, -1):
        site.running[other] = site.running[other - 1]
    site.running[place] = row
    slot = site.spare[counts[RUNNING]]
    counts[RUNNING] += 1
    site.slot[row], site.row_of[slot] = slot, row
    take(run.nodes, run.pieces, slot, counts[SITE], counts[PART], site.procs[row])
    if counts[RECORD] != 0:
        _note_pieces(run, row, slot, now)
    if counts[RATED] != 0:
        site.rate[row], site.since[row], site.left[row] = 1.0, now, site.work[row]
    schedule_any(run.tree, slot, now + site.held[row])


@inlined
def set_rate(run, row, rate, now):
    """Change the speed of a running job; its end moves, but not beyond its limit."""
    site = run.site
    left = max(0.0, site.left[row] - (now - site.since[row]) * site.rate[row])
    # What is left by rounding alone must not wait where the speed falls to 0.
    if left < ROUNDING * (abs(now) + 1.0):
        left = 0.0
    site.rate[row], site.since[row], site.left[row] = rate, now, left
    end = now + left / rate if left > 0.0 else now
    schedule_any(run.tree, site.slot[row], max(now, min(end, site.start[row] + site.limit[row])))


@inlined
def stop_job(run, row):
    """A job gives its processors back."""
    site, counts = run.site, run.site.counts
    counts[REFUSED] = 0
    place = _place_of(site, row) - 1
    while site.running[place] != row:
        place -= 1
    counts[RUNNING] -= 1
    for other in range(place, counts[RUNNING]):
        site.running[other] = site.running[other + 1]
    slot = site.slot[row]
    site.slot[row] = NO_SLOT
    site.spare[counts[RUNNING]] = slot
    give_back(run.nodes, run.pieces, slot, counts[SITE], counts[PART])
    schedule_any(run.tree, slot, np.inf)


@inlined
def sort_few(values):
    """Sort a few values, nearly sorted already, in place."""
    for index in range(1, len(values)):
        value = values[index]
        slot = index
        while slot > 0 and values[slot - 1] > value:
            values[slot] = values[slot - 1]
            slot -= 1
        values[slot] = value


@inlined
def leave_queue(site, chosen):
    """Take the chosen queue positions, ascending, out of the queue; the others keep their order."""
    if len(chosen) == 0:
        return
    head = site.counts[HEAD]
    target = chosen[-1]
    pick = len(chosen) - 1
    for position in range(chosen[-1], -1, -1):
        if pick >= 0 and chosen[pick] == position:
            pick -= 1
        else:
            site.queue[head + target] = site.queue[head + position]
            target -= 1
    site.counts[HEAD] += len(chosen)
