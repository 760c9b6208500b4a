"""Simpler compiled policies that must start all jobs at the same times as the package's own."""

from typing import ClassVar

import numpy as np

from windlass.jit import Kernel, allocating, helper
from windlass.order.site.compiled import SELECT, CompiledPolicy
from windlass.order.site.lib.profile import earliest, profile_of_running, take
from windlass.order.site.policies.easy import Easy

_IN_TURN, _BACKFILLED = 0, 1


@helper
def _by_reservation(view):
    """Return the queue's rows with a reservation, the earliest first, ties in order of submission."""
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
    """Return the profile with all reservations, and whether they are valid.

    They are invalid if a job outlives its request. Its expected end is then always the present, so reservations behind
    it are past or no longer fit.
    """
    procs, request, note = view.procs, view.request, view.note
    # A reservation splits the profile twice when it is added, and twice more when it is moved.
    profile = profile_of_running(view, 4 * len(view.queue))
    valid = len(view.running) == 0 or view.expected_end[view.running[0]] > view.now
    for row in view.queue:
        valid = valid and not note[row] < view.now
        if note[row] >= view.now:
            take(profile, procs[row], note[row], request[row])
    for step in range(profile.steps[0]):
        valid = valid and profile.free[step] >= 0
    return profile, valid


@helper
def _compress(profile, view):
    """Move each reservation as early as the others allow, the earliest first; return whether any moved."""
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
    profile, valid = _promised(view)
    if view.refused == 0 or not valid:
        moved = _compress(profile, view)
        # One pass is enough if reservations are valid, because a later one frees time only after the earlier ones.
        while moved and not valid:
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
    """Builds the profile step by step at each decision, and removes and recomputes every reservation."""

    name: ClassVar[str] = "listed-conservative"
    reasons: ClassVar[tuple[str, ...]] = ("in turn", "backfilled, delays no reservation")
    select: ClassVar[Kernel] = Kernel(_select, SELECT, allocates=False)


class Scanning(CompiledPolicy):
    """EASY without an index of long queues: each decision reads the queue from its head."""

    name: ClassVar[str] = "scanning"
    reasons: ClassVar[tuple[str, ...]] = Easy.reasons
    select: ClassVar[Kernel] = Easy.select
