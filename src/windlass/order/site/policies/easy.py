"""EASY backfilling."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel, allocating, inlined
from windlass.order.site.compiled import SELECT, SELECT_BY_INDEX, CompiledPolicy
from windlass.order.site.lib.pools import add, fits, free_now, start_heads
from windlass.order.site.queue_index import next_fit, next_waiting
from windlass.order.site.reservation import promise_to_head
from windlass.order.site.view import SiteView, Start

_HEAD, _BEFORE, _SPARE = 0, 1, 2


@allocating
def _holders(view, started):
    """Return rows and ends of running jobs and of those just ``started``, by expected end, then processors.

    ``started`` (s,) are positions of the queue.
    """
    queue, running, procs, request = view.queue, view.running, view.procs, view.request
    expected_end = view.expected_end
    rows = np.empty(len(running) + len(started), np.int64)
    ends = np.empty(len(running) + len(started), np.float64)
    for held in range(len(running)):
        rows[held] = running[held]
        ends[held] = expected_end[running[held]]
    for other in range(len(started)):
        row = queue[started[other]]
        end = view.now + request[row]
        slot = len(running) + other
        while slot > 0 and (
            ends[slot - 1] > end or (ends[slot - 1] == end and procs[rows[slot - 1]] > procs[row])
        ):
            rows[slot], ends[slot] = rows[slot - 1], ends[slot - 1]
            slot -= 1
        rows[slot], ends[slot] = row, end
    return rows, ends


@allocating
def _shadow(view, started, head, free):
    """Return when the head is expected to have its processors, and how many are idle then.

    ``started`` (s,) are positions of jobs that start now, and ``head`` is the position of the job after these.

    Of jobs that end at that instant, the narrowest are counted, up to the first that suffices. Counting all of
    them would leave a little more to backfill, but the published replays stop here. The time is infinite if the site
    has shrunk below the head's request: any job that fits may then run meanwhile.
    """
    rows, ends = _holders(view, started)
    procs = view.procs
    need = procs[view.queue[head]] + view.owed + view.claimed
    held = 0
    while free < need and held < len(rows):
        free += procs[rows[held]]
        held += 1
    return ends[held - 1] if free >= need else np.inf, free - need


@inlined
def _shadow_of_running(view, free):
    """Return the shadow time when no head has just started: running jobs are then already in order."""
    running, procs = view.running, view.procs
    need = procs[view.queue[0]] + view.owed + view.claimed
    held = 0
    while free < need and held < len(running):
        free += procs[running[held]]
        held += 1
    return view.expected_end[running[held - 1]] if free >= need else np.inf, free - need


@allocating
def _shadow_of_all(view, started, head, free, extra):
    """Return the first time at which everything that the head requests is free, for jobs that request pools.

    The amount left over then is written to ``extra``.
    """
    rows, ends = _holders(view, started)
    wanting, held = view.queue[head], 0
    extra[:] = free
    extra[0] -= view.owed + view.claimed
    while held < len(rows) and not fits(view, extra, wanting):
        add(view, extra, rows[held], 1)
        held += 1
    time = ends[held - 1] if held > 0 and fits(view, extra, wanting) else np.inf
    add(view, extra, wanting, -1)
    return time


def _select_of_all(view, chosen, why):
    free, queue = free_now(view), view.queue
    count = start_heads(view, free, chosen, why)
    head, time, extra = count, np.nan, np.empty_like(free)
    for position in range(head + 1, len(queue)):
        if free[0] == 0:
            break
        row = queue[position]
        if not fits(view, free, row):
            continue
        if np.isnan(time):
            time = _shadow_of_all(view, chosen[:head], head, free, extra)
        ends_before = view.now + view.request[row] <= time
        if not ends_before:
            if not fits(view, extra, row):
                continue
            add(view, extra, row, -1)
        add(view, free, row, -1)
        chosen[count] = position
        why[count] = _BEFORE if ends_before else _SPARE
        count += 1
    return count


@inlined
def _choose(view, index, chosen, why):
    """Choose the jobs to start; ``index`` is the index of a long queue, or None."""
    queue, procs, free = view.queue, view.procs, view.free
    count = head = 0
    while view.refused == 0 and head < len(queue) and procs[queue[head]] <= free:
        free -= procs[queue[head]]
        chosen[count] = head
        why[count] = _HEAD
        count += 1
        head = next_waiting(view, index, head + 1)
    # A job refused before a backfilled one may fit now, if that is expected to end before the shadow time.
    position = max(head + 1, view.settled)
    if index is None:
        # Often no job of a short queue fits, and the shadow time is not needed.
        position = next_fit(view, index, position, free, np.inf, 0)
    if free == 0 or position >= len(queue):
        return count
    time, extra = _shadow(view, chosen[:count], head, free) if count > 0 else _shadow_of_running(view, free)
    position = next_fit(view, index, position, free, time, extra)
    while position < len(queue):
        row = queue[position]
        ends_before = view.now + view.request[row] <= time
        if not ends_before:
            extra -= procs[row]
        free -= procs[row]
        chosen[count] = position
        why[count] = _BEFORE if ends_before else _SPARE
        count += 1
        position = next_fit(view, index, position + 1, free, time, extra)
    return count


def _select(view, chosen, why):
    return _choose(view, None, chosen, why)


def _select_by_index(view, index, chosen, why):
    return _choose(view, index, chosen, why)


class Easy(CompiledPolicy):
    """EASY backfilling: first come, first served, and later jobs may fill in where they do not delay the head.

    If the head of the queue does not fit, it gets a reservation at the *shadow time*, when enough running jobs
    are expected to have ended. A later job starts now if it fits and either is expected to end by then, or
    takes only processors that the head leaves over. The reservation is recomputed at each decision. A head that
    is wider than the site's present size has none, and delays no other job until the site grows again. If jobs request
    more than processors, the rules apply to everything that they request.

    Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.

    Examples
    --------
    >>> from windlass.order.site.view import Running, SiteView, Waiting
    >>> waiting = Waiting.of(job=[1, 2, 3], submit=[0, 1, 2], procs=[4, 2, 2], request=[60, 99, 50])
    >>> running = Running.of(job=[0], procs=[2], expected_end=[55])
    >>> start = Easy().decide(SiteView(5.0, processors=4, free=2, waiting=waiting, running=running))
    >>> start.jobs, start.why
    ((3,), ('backfilled, ends before the head can start',))
    """

    name: ClassVar[str] = "easy"
    reasons: ClassVar[tuple[str, ...]] = (
        "head of the queue",
        "backfilled, ends before the head can start",
        "backfilled, leaves the head enough processors",
    )
    select: ClassVar[Kernel] = Kernel(_select, SELECT, allocates=False)
    pooled: ClassVar[Kernel] = Kernel(_select_of_all, SELECT)
    indexed: ClassVar[Kernel] = Kernel(_select_by_index, SELECT_BY_INDEX, allocates=False)

    def promised(self, view: SiteView, answer: Start) -> NDArray[np.float64]:
        """Return the latest start of each waiting job, s: the shadow time for the head, NaN for the others."""
        return promise_to_head(view, answer)
