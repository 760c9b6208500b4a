"""A reservation for every waiting job, stored as its note, for conservative backfilling."""

import numpy as np

from windlass.jit import allocating, lean, slicing
from windlass.order.site.lib.floors import lower_floors, make_floors
from windlass.order.site.lib.pool_profile import earliest_of_all, pools_of_running, reserve_all
from windlass.order.site.lib.renewal import LONG, first_fit, place_new, repair
from windlass.order.site.lib.reserved_line import by_reservation, line_of
from windlass.order.site.lib.timeline import end_of, take_from


@lean
def _bring_forward(line, floors, view, rows, limit, keyed):
    """Move each of these reservations as early as the others allow, and return the new limit, or -inf if none moved.

    Since the last decision, processors were released only before ``limit``. A reservation can move only if it then
    starts before this, or before the end of a reservation that has moved.
    """
    procs, request, note = view.procs, view.request, view.note
    moved = False
    for row in rows:
        before = note[row]
        # A job holds its reserved processors from the start of its own reservation on.
        at = first_fit(line, floors, procs[row], request[row], before, limit, not keyed)
        if at < before:
            end = end_of(at, request[row])
            last = end_of(before, request[row])
            if end < before:
                take_from(line, procs[row], at, end)
                released = before
            else:
                # The job keeps what both reservations have.
                take_from(line, procs[row], at, before)
                released = end
            if released < last and before < np.inf:
                take_from(line, -procs[row], released, last)
                if floors is not None and keyed:
                    lower_floors(floors, released)
            limit = max(limit, last)
            note[row] = at
            moved = True
    return limit if moved else -np.inf


@slicing
def _place_all(view, key, line, in_order, floors):
    """Move reservations forward and give one to each job without; ``floors`` may be None."""
    if view.refused == 0:
        rows = in_order if len(key) == 0 else by_reservation(view, key)
        # Even a job with a request of 0 was expected to hold its processors beyond its start.
        limit = np.nextafter(view.freed_until, np.inf)
        limit = _bring_forward(line, floors, view, rows, limit, len(key) > 0)
        while limit > -np.inf and len(key) > 0:
            limit = _bring_forward(line, floors, view, by_reservation(view, key), limit, True)
    place_new(view, line, floors)


@lean
def _fits_at_once(view):
    """Reserve this instant for all waiting jobs, if none has a reservation yet and they fit together.

    Without reservations, the processors that are free only increase, so no other start is as early.
    """
    free = view.free - view.claimed
    for row in view.queue:
        free -= view.procs[row]
        if free < 0 or not np.isnan(view.note[row]):
            return False
    for row in view.queue:
        view.note[row] = view.now
    return True


@slicing
def reserve(view, key):
    """Give every waiting job a reservation, stored as its note.

    ``key`` has a number for each waiting job: when processors are released early, jobs move forward by ascending key,
    then by reservation. It may be empty, for one key for all; then one pass is enough, because the processors that a
    later reservation releases are free only after the earlier ones start.
    """
    if _fits_at_once(view):
        return
    line, valid, rows = line_of(view)
    if not valid:
        repair(view, key, line, rows)
    elif len(view.queue) < LONG:
        _place_all(view, key, line, rows, None)
    else:
        _place_all(view, key, line, rows, make_floors(view.processors, len(view.queue)))


@allocating
def _promised_of_all(view):
    """Return the profile of all resources with the future reservations, and whether all are valid."""
    # The same number of steps as a profile of processors needs.
    profile = pools_of_running(view, 4 * len(view.queue))
    valid = len(view.running) == 0 or view.expected_end[view.running[0]] > view.now
    for row in view.queue:
        valid = valid and not view.note[row] < view.now
        if view.note[row] >= view.now:
            reserve_all(profile, view, row, view.note[row], 1)
    for resource in range(len(profile.free)):
        for step in range(profile.steps[0]):
            valid = valid and profile.free[resource, step] >= 0
    return profile, valid


@lean
def _compress_of_all(profile, view, rows):
    """Renew each of these reservations as early as the others allow, and return whether any moved."""
    moved = False
    for row in rows:
        before = view.note[row]
        if before >= profile.times[0]:
            reserve_all(profile, view, row, before, -1)
        view.note[row] = earliest_of_all(profile, view, row)
        reserve_all(profile, view, row, view.note[row], 1)
        moved = moved or view.note[row] != before
    return moved


@allocating
def _reserve_of_all(view, key):
    """Make reservations as :func:`reserve` does for jobs that request several resources, on a plain profile."""
    profile, valid = _promised_of_all(view)
    if view.refused == 0 or not valid:
        moved = _compress_of_all(profile, view, by_reservation(view, key))
        while moved and (len(key) > 0 or not valid):
            profile, _ = _promised_of_all(view)
            moved = _compress_of_all(profile, view, by_reservation(view, key))
        # Build the profile again, because releases and reservations have left superfluous steps in it.
        profile, _ = _promised_of_all(view)
    for row in view.queue:
        if np.isnan(view.note[row]):
            view.note[row] = earliest_of_all(profile, view, row)
            reserve_all(profile, view, row, view.note[row], 1)


@slicing
def _start_due(view, chosen, why):
    """Choose the jobs whose reservation starts now, and return their number.

    The reason is 0 for a job without a waiting job ahead of it, and 1 for the others.
    """
    count = 0
    for position in range(len(view.queue)):
        if view.note[view.queue[position]] == view.now:
            chosen[count] = position
            why[count] = 0 if position == count else 1
            count += 1
    return count


@allocating
def start_reserved(view, key, chosen, why):
    """Make reservations as :func:`reserve` does, choose the jobs that are due, and return their number."""
    reserve(view, key)
    return _start_due(view, chosen, why)


@allocating
def start_reserved_of_all(view, key, chosen, why):
    """Do the same as :func:`start_reserved` for jobs that request more than processors."""
    _reserve_of_all(view, key)
    return _start_due(view, chosen, why)
