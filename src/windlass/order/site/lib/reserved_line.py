"""The waiting jobs with a reservation, stored as their note, and the timeline of idle processors with all of them."""

import numpy as np

from windlass.jit import allocating, slicing
from windlass.order.site.lib.sorting import sorted_places
from windlass.order.site.lib.timeline import append_step, end_of, make_timeline


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
def by_reservation(view, key):
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


@slicing
def line_of(view):
    """Return the timeline of idle processors with all reservations, and whether the reservations are valid.

    The last element is (r,) rows of the queue with a reservation, by reservation and position in the queue.

    Jobs past their expected end are expected to end at once, at each decision. Reservations behind them then pass,
    where they hold nothing, or no longer fit, so that they are not valid. The timeline has room to renew all of them.
    """
    running, procs, note = view.running, view.procs, view.note
    rows, soon = _reserved(view), np.nextafter(view.now, np.inf)
    starts, ends = note[rows], np.empty(len(rows))
    for job in range(len(rows)):
        ends[job] = end_of(starts[job], view.request[rows[job]]) if starts[job] >= view.now else np.inf
    by_start, by_end = sorted_places(starts), sorted_places(ends)
    line = make_timeline(2 * len(rows) + len(running) + 1, 4 * len(view.queue))
    valid = len(running) == 0 or view.expected_end[running[0]] > view.now
    time, free, owed = view.now, view.free - view.claimed, view.owed
    started = ended = released = 0
    while started < len(rows) and starts[by_start[started]] < time:
        started += 1
        valid = False
    while time < np.inf:
        while started < len(rows) and starts[by_start[started]] == time:
            free -= procs[rows[by_start[started]]]
            started += 1
        while ended < len(rows) and ends[by_end[ended]] == time:
            free += procs[rows[by_end[ended]]]
            ended += 1
        while released < len(running) and max(view.expected_end[running[released]], soon) == time:
            paid = min(owed, procs[running[released]])
            owed -= paid
            free += procs[running[released]] - paid
            released += 1
        append_step(line, time, free)
        valid = valid and free >= 0
        time = np.inf
        if started < len(rows):
            time = starts[by_start[started]]
        if ended < len(rows):
            time = min(time, ends[by_end[ended]])
        if released < len(running):
            time = min(time, max(view.expected_end[running[released]], soon))
    return line, valid, rows[by_start]
