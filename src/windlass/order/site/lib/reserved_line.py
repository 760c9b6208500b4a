"""The waiting jobs with a reservation, stored as their note, and the timeline of idle processors with all of them."""

import numpy as np

from windlass.jit import allocating, index
from windlass.order.site.lib.sorting import sorted_places
from windlass.order.site.lib.timeline import append_step, end_of, make_timeline


@allocating
def _reserved(view):
    """Return the rows of the queue that have a reservation, which may be infinite, in order of the queue."""
    rows = np.empty(len(view.queue), np.int64)
    size = 0
    for row in view.queue:
        if not np.isnan(view.note[index(row)]):
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


@allocating
def _changes(view, rows):
    """Return when the number of idle processors changes, s, and by how many.

    First are the starts of the reservations of ``rows``, then their ends, then the ends of running jobs. Those past
    their expected end are expected to end at once. The site keeps the processors that are owed.
    """
    running, procs, size = view.running, view.procs, len(rows)
    times, changes = np.empty(2 * size + len(running)), np.empty(2 * size + len(running), np.int64)
    for job in range(size):
        row = index(rows[job])
        start, held, end = view.note[row], 0, np.inf
        # A reservation that has passed holds nothing.
        if start >= view.now:
            held, end = procs[row], end_of(start, view.request[row])
        times[job], changes[job] = start, -held
        times[size + job], changes[size + job] = end, held
    soon, owed = np.nextafter(view.now, np.inf), view.owed
    for job in range(len(running)):
        row = index(running[job])
        paid = min(owed, procs[row])
        owed -= paid
        times[2 * size + job] = max(view.expected_end[row], soon)
        changes[2 * size + job] = procs[row] - paid
    return times, changes


@allocating
def line_of(view):
    """Return the timeline of idle processors with all reservations, and whether the reservations are valid.

    The last element is (r,) rows of the queue with a reservation, by reservation and position in the queue.

    Jobs past their expected end are expected to end at once, at each decision. Reservations behind them then pass,
    or no longer fit, so that they are not valid. The timeline has room to renew all of them.
    """
    rows = _reserved(view)
    times, changes = _changes(view, rows)
    line = make_timeline(len(times) + 1, 4 * len(view.queue))
    valid = len(view.running) == 0 or view.expected_end[view.running[0]] > view.now
    time, free, by_start, started = view.now, view.free - view.claimed, np.empty_like(rows), 0
    for change in sorted_places(times):
        at = times[index(change)]
        if at > time:
            append_step(line, time, free)
            valid = valid and free >= 0
            time = at
        free += changes[index(change)]
        if change < len(rows):
            by_start[started] = rows[change]
            valid = valid and at >= view.now
            started += 1
    if time < np.inf:
        append_step(line, time, free)
    return line, valid and (time == np.inf or free >= 0), by_start
