"""Fair sharing of slots among jobs, for policies that decide the site of each task beforehand."""

import numpy as np

from windlass.jit import helper, lean
from windlass.place.functions.in_place import less_begun, shuffle_in_place
from windlass.place.lib.pick import LOCAL, REASONS, SHUFFLE, put
from windlass.place.lib.search import SOLVED, copy, parts, total_of
from windlass.place.lib.stage import StageLoad, StageResources, solve_reduce
from windlass.place.lib.whole import whole_within

ANYWHERE = 3
#: Weight of compute time relative to network time if it only breaks ties.
TIES = 1e-6
REASONS_OF_FAIR = (*REASONS, "no slot at its input, or none for too long")


@helper
def wanted_in_place(sites, ready, by_network, by_slots, want):
    """Fill ``want`` (m, n) with the tasks that each stage still runs at each site: maps at their input.

    Shuffles run at their intermediate data, or (``by_network``) where the shuffle takes least time. Ties are
    broken by the most data kept in place, or (``by_slots``) by the least compute time.
    """
    m, n = want.shape
    share, most = np.empty(n), np.empty(n)
    for row in range(m):
        if not ready.shuffles[row]:
            copy(ready.here[row], want[row])
        elif not (by_network and wanted_by_network(sites, ready, row, by_slots, share, most, want[row])):
            for x in range(n):
                share[x], most[x] = ready.data[row, x], sites.slots[x]
            waiting, total = ready.waiting[row], ready.total[row]
            shuffle_in_place(share, most, total, ready.started[row], waiting, 0.0, want[row])


@helper
def wanted_by_network(sites, ready, row, by_slots, share, most, want):
    """Fill ``want`` (n,) with the placement of least shuffle time, ignoring slots; return whether there is one."""
    resources = StageResources(parts(sites.slots, 1.0), sites.up, sites.down)
    result = solve_reduce(ready.data[row], resources, StageLoad(0.0, np.inf, 0.0), share, most)
    if by_slots and result[2] == SOLVED:
        # The small amount of work does not change the minimum of network time; it only breaks ties.
        work = TIES * max(result[0], TIES)
        result = solve_reduce(ready.data[row], resources, StageLoad(work, np.inf, 0.0), share, most)
    if result[2] != SOLVED:
        return False
    for x in range(len(share)):
        if sites.slots[x] <= 0:
            share[x] = 0.0
    if total_of(share) <= 0.0:
        copy(sites.slots, share)
    # Shares of the whole stage, so that tasks that have started do not shift the rest.
    whole_within(share, most, ready.total[row], want)
    less_begun(ready.started[row], ready.waiting[row], want)
    return True


@lean
def level(want, held, room):
    """Return the highest whole level to which all may fill, from what they hold, without using more than ``room``."""
    low, high = 0, 0
    for row in range(len(want)):
        if want[row] > 0:
            high = max(high, held[row] + want[row])
    while low < high:
        middle = (low + high + 1) // 2
        used = 0
        for row in range(len(want)):
            used += min(want[row], max(0, middle - held[row]))
        if used <= room:
            low = middle
        else:
            high = middle - 1
    return low


@helper
def share_slots(sites, ready, want, starts, count):
    """Start wanted tasks on free slots, always for a job with the fewest running tasks; return the count."""
    m, n = want.shape
    held = np.zeros(m, np.int64)
    for row in range(m):
        for other in range(m):
            if ready.job[other] == ready.job[row]:
                held[row] += total_of(ready.running[other])
    column = np.empty(m, np.int64)
    for x in range(n):
        room = sites.free[x]
        if room <= 0:
            continue
        for row in range(m):
            column[row] = want[row, x]
        height = level(column, held, room)
        for step in range(2):
            for row in range(m):
                # First fill to the level, then give one slot each while slots last.
                take = (
                    min(column[row], max(0, height - held[row])) if step == 0 else min(column[row], 1, room)
                )
                if step == 1 and held[row] > height:
                    take = 0
                if take <= 0:
                    continue
                column[row] -= take
                held[row] += take
                room -= take
                source, reason = (-1, SHUFFLE) if ready.shuffles[row] else (x, LOCAL)
                count = put(starts, count, row, source, x, take, reason)
                want[row, x] -= take
    return count


@helper
def start_elsewhere(now, sites, ready, delay, want, starts, count):
    """Start map tasks away from their input if its site has no slots, or if they waited longer than ``delay``.

    They start at the sites with the most free slots. Return the new number of starts.
    """
    m, n = want.shape
    left = np.empty(n, np.int64)
    for x in range(n):
        left[x] = max(sites.free[x], 0) if sites.down[x] > 0.0 else 0
    for start in range(count):
        left[starts.rows[start, 2]] -= starts.rows[start, 3]
    for row in range(m):
        waited = delay > 0.0 and now >= ready.since[row] + delay
        for x in range(n):
            if ready.shuffles[row] or sites.up[x] <= 0.0 or not (waited or sites.slots[x] <= 0):
                continue
            y = 0
            for other in range(1, n):
                if left[other] > left[y]:
                    y = other
            take = min(want[row, x], left[y])
            if take > 0 and y != x:
                count = put(starts, count, row, x, y, take, ANYWHERE)
                left[y] -= take
                want[row, x] -= take
    return count
