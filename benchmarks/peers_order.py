"""Conservative backfilling over a plain list of steps, compiled: what ours has to agree with, start by start."""

from typing import ClassVar

import numpy as np

from windlass.jit import Kernel, allocating, helper
from windlass.order.site.compiled import SELECT, CompiledPolicy
from windlass.order.site.lib.profile import earliest, profile_of_running, take

_IN_TURN, _BACKFILLED = 0, 1


@helper
def _by_reservation(view):
    """Rows of the queue that have a reservation, the earliest first, ties in order of submission."""
    queue, note = view.queue, view.note
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
def _promised(view):
    """The profile with all reservations in it, and whether they are sound.

    They are not where a job outlives its request: it is expected to end at once, time and again, and what was
    promised behind it passes or no longer fits.
    """
    procs, request, note = view.procs, view.request, view.note
    # A reservation splits the profile twice when it is entered and twice more when it is moved.
    profile = profile_of_running(view, 4 * len(view.queue))
    sound = len(view.running) == 0 or view.expected_end[view.running[0]] > view.now
    for row in view.queue:
        sound = sound and not note[row] < view.now
        if note[row] >= view.now:
            take(profile, procs[row], note[row], request[row])
    for step in range(profile.steps[0]):
        sound = sound and profile.free[step] >= 0
    return profile, sound


@helper
def _compress(profile, view):
    """Move every reservation as early as the others allow, the earliest first; whether any moved."""
    procs, request, note = view.procs, view.request, view.note
    moved = False
    for row in _by_reservation(view):
        before = note[row]
        if before >= profile.times[0]:
            take(profile, -procs[row], before, request[row])
        note[row] = earliest(profile, procs[row], request[row])
        take(profile, procs[row], note[row], request[row])
        moved = moved or note[row] != before
    return moved


@allocating
def _reserve(view):
    """Give every waiting job a reservation, as its note."""
    procs, request, note = view.procs, view.request, view.note
    profile, sound = _promised(view)
    if view.refused == 0 or not sound:
        moved = _compress(profile, view)
        # One pass is enough where reservations are sound: what a later one gives up lies behind the earlier ones.
        while moved and not sound:
            profile, _ = _promised(view)
            moved = _compress(profile, view)
    for row in view.queue:
        if np.isnan(note[row]):
            note[row] = earliest(profile, procs[row], request[row])
            take(profile, procs[row], note[row], request[row])


def _select(view, chosen, why):
    _reserve(view)
    count = 0
    for position in range(len(view.queue)):
        if view.note[view.queue[position]] == view.now:
            chosen[count] = position
            why[count] = _IN_TURN if position == count else _BACKFILLED
            count += 1
    return count


class ListedConservative(CompiledPolicy):
    """The profile is built step by step at each decision; every reservation is taken out, found anew and put back."""

    name: ClassVar[str] = "listed-conservative"
    reasons: ClassVar[tuple[str, ...]] = ("in turn", "backfilled, delays no reservation")
    select: ClassVar[Kernel] = Kernel(_select, SELECT, allocates=False)
