"""A reservation for every waiting job, stored as its note, for conservative backfilling."""

import numpy as np

from windlass.jit import allocating, helper, lean
from windlass.order.site.lib.pool_profile import earliest_of_all, pools_of_running, reserve_all
from windlass.order.site.lib.profile import earliest, end_of, profile_of_running, take
from windlass.order.site.lib.timeline import append_step, earliest_before, make_timeline, take_from


@allocating
def _reserved(view):
    """Return the rows of the queue that have a reservation, which may be infinite, in order of the queue."""
    rows = np.empty(len(view.queue), np.int64)
    size = 0
    for row in view.queue:
        if not np.isnan(view.note[row]):
            rows[size] = row
            size += 1
    return rows[:size]


@allocating
def _line_of(view):
    """Return the timeline of idle processors with all reservations, and whether the reservations are valid.

    The last element is (r,) rows of the queue with a reservation, by reservation and position in the queue.

    They are not valid once a job exceeds its request: it is expected to end at once at each decision, so that
    reservations behind it pass or no longer fit.
    """
    running, procs, note, expected_end = view.running, view.procs, view.note, view.expected_end
    rows = _reserved(view)
    starts, ends = note[rows], np.empty(len(rows))
    for job in range(len(rows)):
        ends[job] = end_of(starts[job], view.request[rows[job]])
    by_start, by_end = np.argsort(starts, kind="mergesort"), np.argsort(ends, kind="mergesort")
    line = make_timeline(2 * len(rows) + len(running) + 1, 2 * len(view.queue))
    valid = len(running) == 0 or expected_end[running[0]] > view.now
    valid = valid and (len(rows) == 0 or starts[by_start[0]] >= view.now)
    time, free, owed = view.now, view.free - view.claimed, view.owed
    started = ended = released = 0
    while valid and time < np.inf:
        while started < len(rows) and starts[by_start[started]] == time:
            free -= procs[rows[by_start[started]]]
            started += 1
        while ended < len(rows) and ends[by_end[ended]] == time:
            free += procs[rows[by_end[ended]]]
            ended += 1
        while released < len(running) and expected_end[running[released]] == time:
            paid = min(owed, procs[running[released]])
            owed -= paid
            free += procs[running[released]] - paid
            released += 1
        append_step(line, time, free)
        valid = free >= 0
        time = np.inf
        if started < len(rows):
            time = starts[by_start[started]]
        if ended < len(rows):
            time = min(time, ends[by_end[ended]])
        if released < len(running):
            time = min(time, expected_end[running[released]])
    return line, valid, rows[by_start]


@allocating
def _by_reservation(view, key):
    """Return rows of the queue with a reservation, by key, then by reservation, then by position in the queue."""
    count = 0
    places = np.empty(len(view.queue), np.int64)
    for place in range(len(view.queue)):
        if not np.isnan(view.note[view.queue[place]]):
            places[count] = place
            count += 1
    places = places[:count]
    places = places[np.argsort(view.note[view.queue[places]], kind="mergesort")]
    if len(key) > 0:
        places = places[np.argsort(key[places], kind="mergesort")]
    return view.queue[places]


@lean
def _bring_forward(line, view, rows, limit):
    """Move each of these reservations as early as the others allow, and return the new limit, or -inf if none moved.

    Since the last decision, processors were released only before ``limit``. A reservation can move only if it then
    starts before this, or before the end of a reservation that has moved.
    """
    procs, request, note = view.procs, view.request, view.note
    moved = False
    for row in rows:
        before = note[row]
        # A job holds its reserved processors from the start of its own reservation on.
        at = earliest_before(line, procs[row], request[row], before, limit)
        if at < before:
            end = end_of(at, request[row])
            if end < before:
                take_from(line, procs[row], at, end)
                if before < np.inf:
                    take_from(line, -procs[row], before, end_of(before, request[row]))
            else:
                # The job keeps what both reservations have.
                take_from(line, procs[row], at, before)
                last = end_of(before, request[row])
                if end < last:
                    take_from(line, -procs[row], end, last)
            limit = max(limit, end_of(before, request[row]))
            note[row] = at
            moved = True
    return limit if moved else -np.inf


@helper
def _promised(view):
    """Return the profile with all future reservations."""
    procs, request, note = view.procs, view.request, view.note
    # A reservation splits the profile twice when it is entered and twice more when it is moved.
    profile = profile_of_running(view, 4 * len(view.queue))
    for row in view.queue:
        if note[row] >= view.now:
            take(profile, procs[row], note[row], request[row])
    return profile


@lean
def _compress(profile, view, rows):
    """Renew each of these reservations as early as the others allow, and return whether any moved."""
    procs, request, note = view.procs, view.request, view.note
    moved = False
    for row in rows:
        before = note[row]
        if before >= profile.times[0]:
            take(profile, -procs[row], before, request[row])
        note[row] = earliest(profile, procs[row], request[row])
        take(profile, procs[row], note[row], request[row])
        moved = moved or note[row] != before
    return moved


@allocating
def _repair(view, key):
    """Repair reservations after some became invalid: renew all of them until none moves."""
    procs, request, note = view.procs, view.request, view.note
    profile = _promised(view)
    while _compress(profile, view, _by_reservation(view, key)):
        profile = _promised(view)
    for row in view.queue:
        if np.isnan(note[row]):
            note[row] = earliest(profile, procs[row], request[row])
            take(profile, procs[row], note[row], request[row])


@allocating
def reserve(view, key):
    """Give every waiting job a reservation, stored as its note.

    ``key`` has a number for each waiting job: when processors are released early, jobs move forward by ascending key,
    then by reservation. It may be empty, for one key for all; then one pass is enough, because the processors that a
    later reservation releases are free only after the earlier ones start.
    """
    line, valid, by_reservation = _line_of(view)
    if not valid:
        _repair(view, key)
        return
    if view.refused == 0:
        rows = by_reservation if len(key) == 0 else _by_reservation(view, key)
        # Even a job with a request of 0 was expected to hold its processors beyond its start.
        limit = _bring_forward(line, view, rows, np.nextafter(view.freed_until, np.inf))
        while limit > -np.inf and len(key) > 0:
            limit = _bring_forward(line, view, _by_reservation(view, key), limit)
    for row in view.queue:
        if np.isnan(view.note[row]):
            at = earliest_before(line, view.procs[row], view.request[row], np.inf, np.inf)
            view.note[row] = at
            if at < np.inf:
                take_from(line, view.procs[row], at, end_of(at, view.request[row]))


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
        moved = _compress_of_all(profile, view, _by_reservation(view, key))
        while moved and (len(key) > 0 or not valid):
            profile, _ = _promised_of_all(view)
            moved = _compress_of_all(profile, view, _by_reservation(view, key))
        # Build the profile again, because releases and reservations have left superfluous steps in it.
        profile, _ = _promised_of_all(view)
    for row in view.queue:
        if np.isnan(view.note[row]):
            view.note[row] = earliest_of_all(profile, view, row)
            reserve_all(profile, view, row, view.note[row], 1)


@lean
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
