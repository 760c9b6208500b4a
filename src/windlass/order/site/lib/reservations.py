"""A reservation for every waiting job, stored as its note, for conservative backfilling."""

import numpy as np

from windlass.jit import allocating, inlined, lean, slicing
from windlass.order.site.lib.floors import earliest_above, lower_floors, make_floors
from windlass.order.site.lib.pool_profile import earliest_of_all, pools_of_running, reserve_all
from windlass.order.site.lib.sorting import sorted_places
from windlass.order.site.lib.timeline import append_step, earliest_before, end_of, make_timeline, take_from

#: Number of waiting jobs from which on floors save more time than they take.
_LONG = 512


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


@slicing
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
    by_start, by_end = sorted_places(starts), sorted_places(ends)
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
    places = places[sorted_places(view.note[view.queue[places]])]
    if len(key) > 0:
        places = places[sorted_places(key[places])]
    return view.queue[places]


@inlined
def _first_fit(line, floors, procs, duration, before, limit, ascending):
    if floors is None:
        return earliest_before(line, procs, duration, before, limit)
    return earliest_above(floors, line, procs, duration, before, limit, ascending)


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
        at = _first_fit(line, floors, procs[row], request[row], before, limit, not keyed)
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


@allocating
def _line_with_past(view):
    """Return the timeline as :func:`_line_of` does where reservations are not valid, with room for a renewal of all.

    Jobs past their expected end are expected to end at once. Reservations that have passed hold nothing.
    """
    running, procs, note = view.running, view.procs, view.note
    rows, soon = _reserved(view), np.nextafter(view.now, np.inf)
    rows = rows[note[rows] >= view.now]
    rows = rows[note[rows] < np.inf]
    size = 1 + len(running) + 2 * len(rows)
    times, change, owed = np.full(size, view.now), np.zeros(size, np.int64), view.owed
    for place in range(len(running)):
        row = running[place]
        paid = min(owed, procs[row])
        owed -= paid
        times[1 + place], change[1 + place] = max(view.expected_end[row], soon), procs[row] - paid
    for place in range(len(rows)):
        row, at = rows[place], 1 + len(running) + 2 * place
        times[at], change[at] = note[row], -procs[row]
        times[at + 1], change[at + 1] = end_of(note[row], view.request[row]), procs[row]
    by_time, free = sorted_places(times), view.free - view.claimed
    line = make_timeline(size, 4 * len(view.queue))
    for place in range(size):
        free += change[by_time[place]]
        if place + 1 == size or times[by_time[place + 1]] > times[by_time[place]]:
            append_step(line, times[by_time[place]], free)
    return line


@lean
def _renew(line, floors, view, rows):
    """Renew each of these reservations as early as the others allow, and return whether any moved."""
    procs, request, note = view.procs, view.request, view.note
    moved = False
    for row in rows:
        before = note[row]
        if view.now <= before < np.inf:
            take_from(line, -procs[row], before, end_of(before, request[row]))
            lower_floors(floors, before)
        at = earliest_above(floors, line, procs[row], request[row], np.inf, np.inf, True)
        if at < np.inf:
            take_from(line, procs[row], at, end_of(at, request[row]))
        note[row] = at
        moved = moved or at != before
    return moved


@allocating
def _repair(view, key):
    """Repair reservations after some became invalid: renew all of them until none moves."""
    while _renew(
        _line_with_past(view), make_floors(view.processors, len(view.queue)), view, _by_reservation(view, key)
    ):
        pass
    line, floors = _line_with_past(view), make_floors(view.processors, len(view.queue))
    for row in view.queue:
        if np.isnan(view.note[row]):
            at = earliest_above(floors, line, view.procs[row], view.request[row], np.inf, np.inf, True)
            view.note[row] = at
            if at < np.inf:
                take_from(line, view.procs[row], at, end_of(at, view.request[row]))


@slicing
def _place_all(view, key, line, by_reservation, floors):
    """Move reservations forward and give one to each job without; ``floors`` may be None."""
    if view.refused == 0:
        rows = by_reservation if len(key) == 0 else _by_reservation(view, key)
        # Even a job with a request of 0 was expected to hold its processors beyond its start.
        limit = np.nextafter(view.freed_until, np.inf)
        limit = _bring_forward(line, floors, view, rows, limit, len(key) > 0)
        while limit > -np.inf and len(key) > 0:
            limit = _bring_forward(line, floors, view, _by_reservation(view, key), limit, True)
    for row in view.queue:
        if np.isnan(view.note[row]):
            at = _first_fit(line, floors, view.procs[row], view.request[row], np.inf, np.inf, True)
            view.note[row] = at
            if at < np.inf:
                take_from(line, view.procs[row], at, end_of(at, view.request[row]))


@slicing
def reserve(view, key):
    """Give every waiting job a reservation, stored as its note.

    ``key`` has a number for each waiting job: when processors are released early, jobs move forward by ascending key,
    then by reservation. It may be empty, for one key for all; then one pass is enough, because the processors that a
    later reservation releases are free only after the earlier ones start.
    """
    line, valid, by_reservation = _line_of(view)
    if not valid:
        _repair(view, key)
    elif len(view.queue) < _LONG:
        _place_all(view, key, line, by_reservation, None)
    else:
        _place_all(view, key, line, by_reservation, make_floors(view.processors, len(view.queue)))


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
