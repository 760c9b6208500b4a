"""Conservative backfilling."""

from typing import ClassVar

import numpy as np

from windlass.compiled import Kernel, helper
from windlass.order.site.compiled import SELECT, CompiledPolicy
from windlass.order.site.lib.profile import change, earliest, profile_of_running

_IN_TURN, _BACKFILLED = 0, 1


@helper
def _by_reservation(queue, note):
    """Rows of the queue that have a reservation, the earliest first, ties in order of submission."""
    rows = np.empty(len(queue), np.int64)
    size = 0
    for row in queue:
        if np.isnan(note[row]):
            continue
        slot = size
        while slot > 0 and note[rows[slot - 1]] > note[row]:
            rows[slot] = rows[slot - 1]
            slot -= 1
        rows[slot] = row
        size += 1
    return rows[:size]


@helper
def _promised(now, free, queue, procs, request, note, running, expected_end):
    """The profile with all reservations in it, its size, and whether they are sound.

    They are not where a job outlives its request: it is expected to end at once, time and again, and what was
    promised behind it passes or no longer fits.
    """
    # A reservation splits the profile twice when it is entered and twice more when it is moved.
    times, levels, size = profile_of_running(now, free, running, procs, expected_end, 4 * len(queue))
    sound = len(running) == 0 or expected_end[running[0]] > now
    for row in queue:
        sound = sound and not note[row] < now
        if note[row] >= now:
            size = change(times, levels, size, note[row], request[row], procs[row])
    for step in range(size):
        sound = sound and levels[step] >= 0
    return times, levels, size, sound


@helper
def _compress(times, levels, size, queue, procs, request, note):
    """Move every reservation as early as the others allow, the earliest first; the new size, and whether any moved."""
    moved = False
    for row in _by_reservation(queue, note):
        before = note[row]
        if before >= times[0]:
            size = change(times, levels, size, before, request[row], -procs[row])
        note[row] = earliest(times, levels, size, procs[row], request[row])
        size = change(times, levels, size, note[row], request[row], procs[row])
        moved = moved or note[row] != before
    return size, moved


def _select(now, free, queue, refused, procs, request, note, running, expected_end, chosen, why):
    times, levels, size, sound = _promised(now, free, queue, procs, request, note, running, expected_end)
    if refused == 0 or not sound:
        size, moved = _compress(times, levels, size, queue, procs, request, note)
        # One pass is enough where reservations are sound: what a later one gives up lies behind the earlier ones.
        while moved and not sound:
            times, levels, size, _ = _promised(now, free, queue, procs, request, note, running, expected_end)
            size, moved = _compress(times, levels, size, queue, procs, request, note)
    for row in queue:
        if np.isnan(note[row]):
            note[row] = earliest(times, levels, size, procs[row], request[row])
            size = change(times, levels, size, note[row], request[row], procs[row])
    count = 0
    for position in range(len(queue)):
        if note[queue[position]] == now:
            chosen[count] = position
            why[count] = _IN_TURN if position == count else _BACKFILLED
            count += 1
    return count


class Conservative(CompiledPolicy):
    """Conservative backfilling: every job gets a reservation at submission, and never starts later than that.

    The reservation is the earliest start that delays nobody ahead. When a job ends before its request, all
    reservations move as early as the others allow, in order of their reservations. A job's note is its
    reservation, s. The promise holds where jobs are stopped at their request; a job that outlives its request
    breaks it.

    Source: Mu'alem and Feitelson, "Utilization, predictability, workloads, and user runtime estimates in
    scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001, section 2.

    Examples
    --------
    >>> from windlass.order.site.view import Running, SiteView, Waiting
    >>> waiting = Waiting.of(job=[1, 2, 3], submit=[0, 1, 2], procs=[4, 2, 2], request=[60, 99, 50])
    >>> running = Running.of(job=[0], procs=[2], expected_end=[55])
    >>> start = Conservative().decide(SiteView(5.0, processors=4, free=2, waiting=waiting, running=running))
    >>> start.jobs, start.notes.tolist()
    ((3,), [55.0, 115.0, 5.0])
    """

    name: ClassVar[str] = "conservative"
    reasons: ClassVar[tuple[str, ...]] = ("in turn", "backfilled, delays no reservation")
    select: ClassVar[Kernel] = Kernel(_select, SELECT)
