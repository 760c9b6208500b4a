"""A site: the queue, and what runs, by expected end and processors; who holds which cores is in the ledger.

Jobs are rows of the columns in :class:`SiteState`. A job that runs has a *slot*, a leaf of the tree of ends.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.compiled import inlined, slicing
from windlass.order.site.compiled import SELECT
from windlass.sim.events.tree import TREE, Tree, grown, make_tree, schedule_any
from windlass.sim.nodes import NODES, PIECES, Nodes, Pieces, give_back, make_pieces, take

#: Places in ``SiteState.counts``: the queue is ``queue[HEAD:TAIL]``; running jobs; leading queue entries that the last
#: decision left waiting, with nothing freed since; jobs submitted, ended, and attempts lost; the site's number and the
#: part's in the ledger; whether the policy is asked in Python; how many cores were idle when last looked at; how many
#: jobs an answer names that is still to be carried out, and how many cores they want; lines of ``pieces_log``, and
#: whether it is kept.
(
    HEAD,
    TAIL,
    RUNNING,
    REFUSED,
    SUBMITTED,
    ENDED,
    LOST,
    SITE,
    PART,
    PYTHON,
    SEEN,
    ANSWERED,
    WANTED,
    NOTED,
    RECORD,
    COUNTS,
) = range(16)
#: Places in ``SiteState.clock``: now; when a decision is due; when something happens next; s, and infinity for never.
NOW, DUE, NEXT, CLOCKS = range(4)
NO_SLOT = -1
#: Slots at first; the tree of ends is climbed for each start and each end, and a low one faster.
_FIRST_SLOTS = 64
#: Marks a job that is named in an answer, while the answer is checked.
NAMED = -2


class SiteState(NamedTuple):
    """State of one site; all columns have one entry per job unless said otherwise.

    ``submit``, ``held``: when jobs come and for how long they hold their processors, s. ``queue`` and ``running`` hold
    rows; ``running``, ``row_of`` and ``spare`` have room for as many jobs as can run. ``start`` and ``end`` are NaN
    until known, of the attempt that ended; ``why`` is the policy's reason code. ``slot``: of a running job. ``row_of``:
    whose a slot is; ``spare[RUNNING:]``: slots that are nobody's. ``lost``, ``lost_times`` (m,), (m, 2): rows, starts
    and ends of attempts that were killed. ``pieces_log`` (l, 4): a job's row, a node, cores, start, a line for each
    piece that an attempt took. ``chosen``, ``reason``: the policy's answer.
    """

    submit: NDArray[np.float64]
    held: NDArray[np.float64]
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
    **dict.fromkeys(("submit", "held", "request", "note", "expected_end", "start", "end", "clock"), _F),
    **dict.fromkeys(("slot", "spare"), _I32),
    **dict.fromkeys(("lost_times", "pieces_log"), types.float64[:, ::1]),
}
SITE_STATE = types.NamedTuple([_KINDS.get(field, _I) for field in SiteState._fields], SiteState)
SITE_RUN = types.NamedTuple([types.FunctionType(SELECT), TREE, NODES, PIECES, SITE_STATE], SiteRun)


def make_run(
    select: object,
    nodes: Nodes,
    site: int,
    part: int,
    columns: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]],
    *,
    python: bool,
    record: bool,
) -> SiteRun:
    """A site on which nothing runs yet; `columns` are submit, held, procs and request."""
    procs = columns[2]
    jobs, most = len(procs), int(nodes.capacity[nodes.first[site] : nodes.first[site + 1]].sum())
    slots = min(jobs, most, _FIRST_SLOTS)
    counts, clock = np.zeros(COUNTS, np.int64), np.full(CLOCKS, np.inf)
    counts[SITE], counts[PART], counts[PYTHON] = site, part, python
    counts[RECORD] = record
    counts[SEEN], clock[NOW], clock[NEXT] = most, -np.inf, -np.inf
    note, expected_end, start, end = np.full((4, jobs), np.nan)
    # Empty where entries are written before they are read: to clear them costs some ns a job.
    why, (queue, chosen, reason) = np.zeros(jobs, np.int64), np.empty((3, jobs), np.int64)
    running, row_of = np.zeros((2, slots), np.int64)
    pooled = nodes.first[site + 1] - nodes.first[site] == 1
    state = SiteState(
        *columns,
        note,
        expected_end,
        start,
        end,
        why,
        queue,
        running,
        np.full(jobs, NO_SLOT, np.int32),
        row_of,
        np.arange(slots, dtype=np.int32),
        np.zeros(0, np.int64),
        np.zeros((0, 2)),
        np.zeros((0, 4)),
        chosen,
        reason,
        counts,
        clock,
    )
    tree = make_tree(max(slots, 1))
    return SiteRun(select, tree, nodes, make_pieces(slots, 0 if pooled else most), state)


def with_slots(run: SiteRun) -> SiteRun:
    """The same site with twice as many slots."""
    slots = len(run.site.row_of)
    more, fresh = np.zeros(slots, np.int64), np.arange(slots, 2 * slots, dtype=np.int32)
    none = np.full(slots, -1, np.int32)
    pieces, site = run.pieces, run.site
    return run._replace(
        tree=grown(run.tree, 2 * slots),
        pieces=pieces._replace(
            **{name: np.append(getattr(pieces, name), none) for name in ("last_row", "last_cores", "chain")}
        ),
        site=site._replace(
            running=np.append(site.running, more),
            row_of=np.append(site.row_of, more),
            spare=np.append(site.spare, fresh),
        ),
    )


def with_log(run: SiteRun) -> SiteRun:
    """The same site with room for more attempts that are lost, and for more pieces."""
    site = run.site
    more = max(64, len(site.lost))
    pieces = (len(site.pieces_log) + int(site.counts[WANTED]) + 1024) * int(site.counts[RECORD])
    return run._replace(
        site=site._replace(
            lost=np.append(site.lost, np.zeros(more, np.int64)),
            lost_times=np.concatenate((site.lost_times, np.zeros((more, 2)))),
            pieces_log=np.concatenate((site.pieces_log, np.zeros((pieces, 4)))),
        )
    )


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
    schedule_any(run.tree, slot, now + site.held[row])


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
