"""First fits of waiting jobs, and the renewal of their reservations after some became invalid."""

import numpy as np

from windlass.jit import inlined, lean, slicing
from windlass.order.site.lib.floors import earliest_above, lower_floors, make_floors
from windlass.order.site.lib.reserved_line import by_reservation, line_of
from windlass.order.site.lib.timeline import earliest_before, end_of, is_covered, take_from

#: Number of waiting jobs from which on floors save more time than they take.
LONG = 512


@inlined
def first_fit(line, floors, procs, duration, before, limit, ascending):
    """Return what ``earliest_before`` does; ``floors`` may be None."""
    if floors is None:
        return earliest_before(line, procs, duration, before, limit)
    return earliest_above(floors, line, procs, duration, before, limit, ascending)


@lean
def place_new(view, line, floors):
    """Give a reservation to each waiting job without one; ``floors`` may be None."""
    for row in view.queue:
        if np.isnan(view.note[row]):
            at = first_fit(line, floors, view.procs[row], view.request[row], np.inf, np.inf, True)
            view.note[row] = at
            if at < np.inf:
                take_from(line, view.procs[row], at, end_of(at, view.request[row]))


@lean
def _renew(view, line, floors, rows):
    """Renew each of these reservations as early as the others allow, and return whether any moved."""
    procs, request, note = view.procs, view.request, view.note
    moved = False
    for row in rows:
        before = note[row]
        if view.now <= before < np.inf:
            end = end_of(before, request[row])
            # A reservation that holds its processors can only move forward, which needs no change of the timeline.
            if (
                is_covered(line, before, end)
                and first_fit(line, floors, procs[row], request[row], before, np.inf, False) == before
            ):
                continue
            take_from(line, -procs[row], before, end)
            if floors is not None:
                lower_floors(floors, before)
        at = first_fit(line, floors, procs[row], request[row], np.inf, np.inf, True)
        if at < np.inf:
            take_from(line, procs[row], at, end_of(at, request[row]))
        note[row] = at
        moved = moved or at != before
    return moved


@slicing
def _renew_all(view, key, line, rows, floors):
    while _renew(view, line, floors, rows):
        # Build the timeline again, because releases have left superfluous steps in it.
        line, _, rows = line_of(view)
        if len(key) > 0:
            rows = by_reservation(view, key)
        if floors is not None:
            floors = make_floors(view.processors, len(view.queue))
    place_new(view, line, floors)


@slicing
def repair(view, key, line, rows):
    """Repair reservations after some became invalid: renew all of them until none moves, then add the new ones.

    ``line`` and ``rows`` are those of :func:`~windlass.order.site.lib.reserved_line.line_of`.
    """
    if len(key) > 0:
        rows = by_reservation(view, key)
    if len(view.queue) < LONG:
        _renew_all(view, key, line, rows, None)
    else:
        _renew_all(view, key, line, rows, make_floors(view.processors, len(view.queue)))
