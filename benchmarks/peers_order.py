"""Simpler compiled policies that must start all jobs at the same times as the package's own."""

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel, allocating, helper, lean
from windlass.order.site.compiled import SELECT, CompiledPolicy
from windlass.order.site.lib.timeline import end_of
from windlass.order.site.policies.easy import Easy

_IN_TURN, _BACKFILLED = 0, 1


class Profile(NamedTuple):
    """A step function, with room for more steps: a caller allocates two per future reservation.

    Parameters
    ----------
    times
        (k,) start of each step, s, ascending.
    free
        (k,) free processors from ``times[i]`` until ``times[i + 1]``; the last step has no end.
    steps
        (1,) number of steps in use.
    """

    times: NDArray[np.float64]
    free: NDArray[np.int64]
    steps: NDArray[np.int64]


@helper
def profile_of_running(view, spare):
    """Return the profile without reservations; a job past its expected end is expected to end at once.

    Owed processors are subtracted from those released first.
    """
    running, procs, expected_end = view.running, view.procs, view.expected_end
    times = np.empty(len(running) + 1 + spare, np.float64)
    free = np.empty(len(running) + 1 + spare, np.int64)
    times[0], free[0] = view.now, view.free - view.claimed
    size, owed = 1, view.owed
    for row in running:
        end = max(expected_end[row], np.nextafter(view.now, np.inf))
        if end > times[size - 1]:
            times[size], free[size] = end, free[size - 1]
            size += 1
        paid = min(owed, procs[row])
        owed -= paid
        free[size - 1] += procs[row] - paid
    return Profile(times, free, np.full(1, size))


@lean
def earliest(profile, procs, duration):
    """Return the first time from which ``procs`` processors stay free for ``duration`` seconds."""
    times, free, size = profile.times, profile.free, profile.steps[0]
    start = 0
    step = 0
    while step < size and times[step] < end_of(times[start], duration):
        if free[step] < procs:
            start = step + 1
            if start >= size:
                return np.inf
        step += 1
    return times[start]


@lean
def _split(profile, time):
    """Start a step at a time if none does, and return its index."""
    times, free, size = profile.times, profile.free, profile.steps[0]
    place = np.searchsorted(times[:size], time)
    if place < size and times[place] == time:
        return place
    for step in range(size, place, -1):
        times[step], free[step] = times[step - 1], free[step - 1]
    times[place], free[place] = time, free[place - 1]
    profile.steps[0] = size + 1
    return place


@lean
def take(profile, procs, start, duration):
    """Subtract ``procs`` processors (add them if negative) from ``start`` on for ``duration`` seconds."""
    first = _split(profile, start)
    last = _split(profile, end_of(start, duration))
    for step in range(first, last):
        profile.free[step] -= procs


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
