"""EASY backfilling."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel, allocating, inlined
from windlass.order.site.compiled import SELECT, CompiledPolicy
from windlass.order.site.lib.pools import add, fits, free_now, start_heads
from windlass.order.site.reservation import promise_to_head
from windlass.order.site.view import SiteView, Start

_HEAD, _BEFORE, _SPARE = 0, 1, 2


@allocating
def _holders(view, started):
    """Return rows and ends of running jobs and of the ``started`` queue heads, by expected end, then processors."""
    queue, running, procs, request = view.queue, view.running, view.procs, view.request
    expected_end = view.expected_end
    rows = np.empty(len(running) + started, np.int64)
    ends = np.empty(len(running) + started, np.float64)
    for held in range(len(running)):
        rows[held] = running[held]
        ends[held] = expected_end[running[held]]
    for position in range(started):
        row = queue[position]
        end = view.now + request[row]
        slot = len(running) + position
        while slot > 0 and (
            ends[slot - 1] > end or (ends[slot - 1] == end and procs[rows[slot - 1]] > procs[row])
        ):
            rows[slot], ends[slot] = rows[slot - 1], ends[slot - 1]
            slot -= 1
        rows[slot], ends[slot] = row, end
    return rows, ends


@allocating
def _shadow(view, started, free):
    """Return when the job after the started heads is expected to have its processors, and how many are idle then.

    Of jobs that end at that instant, the narrowest are counted, up to the first that suffices. Counting all of
    them would leave a little more to backfill, but the published replays stop here. The time is infinite if the site
    has shrunk below the head's request: any job that fits may then run meanwhile.
    """
    rows, ends = _holders(view, started)
    procs = view.procs
    need = procs[view.queue[started]] + view.owed
    held = 0
    while free < need and held < len(rows):
        free += procs[rows[held]]
        held += 1
    return ends[held - 1] if free >= need else np.inf, free - need


@inlined
def _shadow_of_running(view, free):
    """Return the shadow time when no head has just started: running jobs are then already in order."""
    running, procs = view.running, view.procs
    need = procs[view.queue[0]] + view.owed
    held = 0
    while free < need and held < len(running):
        free += procs[running[held]]
        held += 1
    return view.expected_end[running[held - 1]] if free >= need else np.inf, free - need


@allocating
def _shadow_of_all(view, started, free, extra):
    """Return the first time at which everything that the head requests is free, for jobs that request pools.

    The amount left over then is written to ``extra``.
    """
    rows, ends = _holders(view, started)
    head, held = view.queue[started], 0
    extra[:] = free
    extra[0] -= view.owed
    while held < len(rows) and not fits(view, extra, head):
        add(view, extra, rows[held], 1)
        held += 1
    time = ends[held - 1] if held > 0 and fits(view, extra, head) else np.inf
    add(view, extra, head, -1)
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
            time = _shadow_of_all(view, head, free, extra)
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


def _select(view, chosen, why):
    now, free, queue, procs, request = view.now, view.free, view.queue, view.procs, view.request
    count = 0
    while view.refused == 0 and count < len(queue) and procs[queue[count]] <= free:
        free -= procs[queue[count]]
        chosen[count] = count
        why[count] = _HEAD
        count += 1
    head = count
    time = extra = np.nan
    # A job refused before may fit now: a job backfilled since may be expected to end before the shadow time.
    for position in range(head + 1, len(queue)):
        if free == 0:
            break
        row = queue[position]
        if procs[row] > free:
            continue
        if np.isnan(time):
            # Computed on first use: often no job in the queue fits.
            time, extra = _shadow(view, head, free) if head > 0 else _shadow_of_running(view, free)
        ends_before = now + request[row] <= time
        if not ends_before:
            if procs[row] > extra:
                continue
            extra -= procs[row]
        free -= procs[row]
        chosen[count] = position
        why[count] = _BEFORE if ends_before else _SPARE
        count += 1
    return count


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

    def promised(self, view: SiteView, answer: Start) -> NDArray[np.float64]:
        """Return the latest start of each waiting job, s: the shadow time for the head, NaN for the others."""
        return promise_to_head(view, answer)
