"""Jobs that the limits of a site admit now: hours that are closed to long jobs, and limits per user."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from windlass.jit import allocating, inlined, lean
from windlass.order.site.compiled import CompiledView, user_of

HOUR_S: Final = 3600.0
WEEK_H: Final = 168.0
#: Indices of the numbers of a :class:`~windlass.order.site.policies.limited.Limited`; intervals of closed hours follow.
JOBS, PROCS, LONG, DRAIN, LONGEST, INTERVALS, FIRST = range(7)


class Hours(NamedTuple):
    """The hours of long jobs at an instant, s.

    Parameters
    ----------
    closes
        When the open hours end; the instant itself in closed hours, and infinity if no hours are closed.
    opens
        When closed hours, those now or the next ones, end.
    closes_again
        When the open hours after ``opens`` end.
    """

    closes: float
    opens: float
    closes_again: float


@lean
def hours_at(given, now):
    """Return the hours of long jobs at an instant.

    ``given`` has the beginning and the end of each interval of closed hours, in hours of the week, ascending; the last
    one may end after the week.
    """
    hour, count = (now / HOUR_S) % WEEK_H, int(given[INTERVALS])
    closed, opens, closes, again = False, np.inf, np.inf, np.inf
    for each in range(count):
        for week in (-WEEK_H, 0.0, WEEK_H):
            begin, end = given[FIRST + 2 * each] + week, given[FIRST + 2 * each + 1] + week
            if begin <= hour < end:
                closed = True
            if end > hour:
                opens = min(opens, end)
            if begin >= hour:
                closes = min(closes, begin)
    for each in range(count):
        for week in (0.0, WEEK_H, 2 * WEEK_H):
            begin = given[FIRST + 2 * each] + week
            if begin >= opens:
                again = min(again, begin)
    start = now - hour * HOUR_S
    return Hours(now if closed else start + closes * HOUR_S, start + opens * HOUR_S, start + again * HOUR_S)


@allocating
def admitted(view, places):
    """Return those of ``places``, positions of the queue in its order, of jobs that may start now.

    On an idle site, the first job is admitted if no other is: no later event would lead to another decision.
    """
    given, queue, running, now = view.given, view.queue, view.running, view.now
    hours, drain = hours_at(given, now), given[DRAIN] > 0
    jobs_of, procs_of = np.zeros(len(view.used)), np.zeros(len(view.used))
    later, spare = 0, view.free - view.owed
    for each in range(len(running)):
        row = running[each]
        user = user_of(view.owner, row)
        if user >= 0:
            jobs_of[user] += 1
            procs_of[user] += view.procs[row]
        if view.expected_end[row] <= hours.opens:
            spare += view.procs[row]
    for place in places:
        request = view.request[queue[place]]
        at_opening = hours.opens + request <= hours.closes_again or request > given[LONGEST]
        if at_opening and not _open(given, hours, now, request):
            later += view.procs[queue[place]]
    spare -= later
    found, count = np.empty(len(places), np.int64), 0
    for place in places:
        row = queue[place]
        user, procs, request = user_of(view.owner, row), view.procs[row], view.request[row]
        if not _open(given, hours, now, request):
            continue
        over = user >= 0 and (jobs_of[user] + 1 > given[JOBS] or procs_of[user] + procs > given[PROCS])
        # A single job may be wider than the limit.
        if over and jobs_of[user] > 0:
            continue
        if drain and later > 0 and now + request > hours.opens:
            if procs > spare:
                continue
            spare -= procs
        if user >= 0:
            jobs_of[user] += 1
            procs_of[user] += procs
        found[count] = place
        count += 1
    if count == 0 and len(running) == 0 and len(places) > 0:
        found[0] = places[0]
        count = 1
    return found[:count]


@inlined
def _open(given, hours, now, request):
    """Return whether the hours permit a job to start now."""
    if request <= given[LONG]:
        return True
    return hours.closes > now and (now + request <= hours.closes or request > given[LONGEST])


@allocating
def with_numbers(view, first):
    """Return a view in which the policy's own numbers are those from ``first`` on."""
    return CompiledView(
        now=view.now,
        free=view.free,
        owed=view.owed,
        claimed=view.claimed,
        refused=0,
        settled=0,
        freed_until=view.freed_until,
        queue=view.queue,
        running=view.running,
        submit=view.submit,
        procs=view.procs,
        request=view.request,
        expected_end=view.expected_end,
        note=view.note,
        processors=view.processors,
        owner=view.owner,
        used=view.used,
        given=view.given[first:],
        pools=view.pools,
        needs=view.needs,
    )
