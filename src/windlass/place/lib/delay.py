"""Delay scheduling: tasks that have waited long enough for a slot at their input may run elsewhere."""

import numpy as np

from windlass.jit import helper, lean
from windlass.place.lib.fair import ANYWHERE, level
from windlass.place.lib.pick import put
from windlass.place.lib.search import total_of
from windlass.place.lib.whole import whole

#: State of a stage between decisions, in the first column of its plan: whether its tasks may start away from
#: their input; or, if the wait does not restart, when the stage could start, in units of MICRO s.
NEAR, FAR = 0, 1
MICRO = 1e-6


@lean
def may_leave(now, ready, row, started_here, wait, restarts):
    """Return whether tasks of a stage may start away from their input now; store the state in its plan.

    With ``restarts`` the wait runs from the last task that started at its input, and a task that started
    elsewhere lets others follow at once (EuroSys 2010, Algorithm 2). Without, it runs once, from when the
    stage could start.
    """
    if restarts <= 0.0:
        if ready.plan[row, 0] < 0:
            ready.plan[row, 0] = int(np.floor(ready.since[row] / MICRO))
        return now >= ready.plan[row, 0] * MICRO + wait
    if started_here > 0:
        ready.plan[row, 0] = NEAR
        return wait <= 0.0
    if now >= ready.since[row] + wait:
        ready.plan[row, 0] = FAR
    return ready.plan[row, 0] == FAR


@lean
def room_at(sites, ready, row, y, left):
    """Return the slots left at a site, 0 if tasks of the stage there could not read their remote input."""
    reads = ready.shuffles[row] == 0
    for x in range(len(sites.up)):
        if x != y and ready.data[row, x] > 0.0 and ready.shuffles[row] and sites.up[x] <= 0.0:
            return 0
        reads = reads or (x != y and ready.data[row, x] > 0.0)
    return left[y] if sites.down[y] > 0.0 or not reads else 0


@helper
def quotas(wanted, held, room, quota):
    """Fill ``quota`` (m,) with slots for each stage, always giving one more to the job that holds fewest."""
    height = level(wanted, held, room)
    for row in range(len(wanted)):
        quota[row] = min(wanted[row], max(0, height - held[row]))
        room -= quota[row]
    for row in range(len(wanted)):
        if room > 0 and quota[row] < wanted[row] and held[row] + quota[row] <= height:
            quota[row] += 1
            room -= 1


@helper
def start_spread(sites, ready, row, tasks, away, left, starts, count):
    """Start tasks of a stage from each site in proportion to its waiting tasks, to each in proportion to free slots.

    ``away`` (n,) is the number of tasks that may leave each site; ``left`` (n,) the free slots, reduced by
    the starts.
    """
    n = len(left)
    source, to, share = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    room = 0
    for y in range(n):
        share[y] = room_at(sites, ready, row, y, left)
        room += int(share[y])
    tasks = min(tasks, room)
    whole(share, tasks, to)
    for x in range(n):
        left[x] -= to[x]
        share[x] = away[x]
    if ready.shuffles[row]:
        for y in range(n):
            count = put(starts, count, row, -1, y, to[y], ANYWHERE)
        return count
    whole(share, tasks, source)
    y = 0
    for x in range(n):
        while source[x] > 0:
            while to[y] <= 0:
                y += 1
            take = min(source[x], to[y])
            count = put(starts, count, row, x, y, take, ANYWHERE)
            source[x] -= take
            to[y] -= take
    return count


@helper
def start_late(now, sites, ready, wait, restarts, want, starts, count):
    """Start tasks that waited too long, or whose site has no slots, on slots left by local tasks; return the count."""
    m, n = want.shape
    left, here = np.empty(n, np.int64), np.zeros(m, np.int64)
    for x in range(n):
        left[x] = max(sites.free[x], 0)
    for start in range(count):
        left[starts.rows[start, 2]] -= starts.rows[start, 3]
        here[starts.rows[start, 0]] += starts.rows[start, 3]
    held, wanted, quota = np.zeros(m, np.int64), np.zeros(m, np.int64), np.empty(m, np.int64)
    away = np.zeros((m, n), np.int64)
    for row in range(m):
        leaves = may_leave(now, ready, row, here[row], wait, restarts)
        for x in range(n):
            if (leaves or sites.slots[x] <= 0) and (ready.shuffles[row] or sites.up[x] > 0.0):
                away[row, x] = want[row, x]
        wanted[row] = total_of(away[row])
        for other in range(m):
            if ready.job[other] == ready.job[row]:
                held[row] += total_of(ready.running[other]) + here[other]
    quotas(wanted, held, total_of(left), quota)
    for row in range(m):
        if quota[row] > 0:
            count = start_spread(sites, ready, row, quota[row], away[row], left, starts, count)
    return count
