"""Tetrium's decision at one instant, compiled: which job next, where its tasks go, which of them start now."""

import numpy as np

from windlass.compiled import Kernel, helper
from windlass.place._compiled import PLACE
from windlass.place._pick import SHUFFLE, put, start_maps
from windlass.place._replan import change_few
from windlass.place._reverse import map_share
from windlass.place._search import NO_BUDGET, SOLVED
from windlass.place._stage import by_size, solve_reduce
from windlass.place._whole import move_least, whole, whole_within

#: Parameters of the decision, in this order in one array of floats.
EPSILON, RHO, LOCAL_SHARE, REMOTE_FIRST, SPREAD, DIRECTION, FAIR_ORDER, IRIDIUM, KEEP_SITES = range(9)


@helper
def open_now(free):  # type: ignore[no-untyped-def]
    """Free slots, none where more are held than a site has now."""
    slots = np.empty(len(free), np.int64)
    for x in range(len(free)):
        slots[x] = max(free[x], 0)
    return slots


@helper
def budget_of(data, slots, down, rho, shuffles):  # type: ignore[no-untyped-def]
    """The bytes that a stage may send: W_min + ρ (W_max − W_min), infinity at ρ = 1."""
    if rho >= 1.0:
        return np.inf
    total = data.sum()
    if not shuffles:
        return rho * total
    kept = 0.0
    for x in range(len(data)):
        if slots[x] > 0.0 and (down[x] > 0.0 or data[x] >= total):
            kept = max(kept, data[x])
    # A rounding more than the least, which would else leave no plan at all.
    return (total - kept) * (1.0 + 1e-12) + rho * kept


@helper
def estimate(sites, ready, row, open_slots, parameters, share, most):  # type: ignore[no-untyped-def]
    """Fill ``share`` and ``most`` (n,) for what waits of a stage; its time, infinity where it cannot run.

    A full site counts as one slot: one will be free before long, and a plan must not lose the data there.
    """
    n = len(open_slots)
    slots = np.empty(n)
    data = ready.data[row].copy()
    for x in range(n):
        slots[x] = open_slots[x] if open_slots[x] > 0 else min(1, sites.slots[x])
        if slots[x] <= 0.0 and sites.up[x] <= 0.0 and not ready.shuffles[row]:
            data[x] = 0.0
    work = ready.task_s[row] * ready.waiting[row]
    # No wave takes less than a task: without this, tasks would move away from slots that are free.
    wave = 1.0 / max(ready.waiting[row], 1)
    budget = budget_of(data, slots, sites.down, parameters[RHO], ready.shuffles[row] != 0)
    total, status = np.inf, NO_BUDGET
    while status == NO_BUDGET:
        if ready.shuffles[row]:
            if parameters[IRIDIUM] > 0.0:
                work, wave = 0.0, 0.0
            transfer, compute, status, _ = solve_reduce(
                data, slots, sites.up, sites.down, work, budget, wave, share, most
            )
            total = transfer + compute
        elif parameters[IRIDIUM] > 0.0:
            total, status = in_place_time(data, slots, sites.down, work, share), SOLVED
            for x in range(n):
                most[x] = share[x]
        else:
            following = ready.next_work[row], ready.ratio[row], int(parameters[DIRECTION])
            total, status = map_share(
                data, slots, sites.up, sites.down, work, *following, budget, wave, share, most
            )
        if budget == np.inf:
            break
        # What cannot keep to its budget, for want of slots where data is, runs without.
        budget = np.inf
    return total if status == SOLVED else np.inf


@helper
def in_place_time(data, slots, down, work, share):  # type: ignore[no-untyped-def]
    """Fill ``share`` with the data's, that of sites without slots at the largest; how long computing takes then."""
    total, longest, largest = max(data.sum(), 1e-300), 0.0, 0
    for x in range(len(data)):
        share[x] = 0.0
        if down[x] > 0.0 and slots[x] > slots[largest]:
            largest = x
    for x in range(len(data)):
        share[x if slots[x] > 0.0 else largest] += data[x] / total
    for x in range(len(data)):
        if slots[x] > 0.0:
            longest = max(longest, work * share[x] / slots[x])
    return longest


@helper
def plan_stage(sites, ready, row, lent, parameters, changed, share, most, counts):  # type: ignore[no-untyped-def]
    """Fill ``counts`` with the whole tasks of a stage for each site; whether there is a plan.

    With kept plans, the plan once made is for all slots, not for those lent now, and is mended where sites changed.
    """
    n = len(lent)
    keep = int(parameters[KEEP_SITES])
    kept = keep > 0 and ready.plan[row, 0] >= 0
    if kept:
        for x in range(n):
            counts[x] = max(0, ready.plan[row, x] - ready.started[row, x])
        if not changed:
            return True
    slots = sites.slots if keep > 0 else lent
    if estimate(sites, ready, row, slots, parameters, share, most) == np.inf:
        return kept
    if kept:
        before, ideal = np.empty(n, np.int64), np.empty(n, np.int64)
        for x in range(n):
            before[x] = counts[x]
        whole_within(share, most, before.sum(), ideal)
        change_few(before, ideal, keep, counts)
    else:
        whole_within(share, most, ready.waiting[row], counts)
    if keep > 0:
        for x in range(n):
            ready.plan[row, x] = ready.started[row, x] + counts[x]
    return True


@helper
def begin(sites, ready, row, lent, limit, parameters, changed, rows, why, count):  # type: ignore[no-untyped-def]
    """Place one stage, start what finds a slot of those lent, at most ``limit`` tasks; the new count of starts."""
    n = len(lent)
    share, most, counts, take = np.empty(n), np.empty(n), np.empty(n, np.int64), np.zeros(n, np.int64)
    if not plan_stage(sites, ready, row, lent, parameters, changed, share, most, counts):
        return count
    wanted = 0
    for x in range(n):
        take[x] = min(lent[x], counts[x])
        share[x] = take[x]
        wanted += take[x]
    if wanted > limit:
        whole(share, limit, take)
        wanted = limit
    if wanted <= 0:
        return count
    for x in range(n):
        lent[x] -= take[x]
    if ready.shuffles[row]:
        for y in range(n):
            count = put(rows, why, count, row, -1, y, take[y], SHUFFLE)
        return count
    flow = np.empty((n, n), np.int64)
    move_least(ready.here[row], counts, sites.up, flow)
    for x in range(n):
        for y in range(n):
            # Input that cannot leave waits for a slot where it lies.
            if x != y and (sites.up[x] <= 0.0 or sites.down[y] <= 0.0):
                flow[x, y] = 0
    local_share, remote_first = parameters[LOCAL_SHARE], parameters[REMOTE_FIRST] > 0.0
    return start_maps(
        rows, why, count, row, flow, take, sites.up, local_share, remote_first, parameters[SPREAD] > 0.0
    )


@helper
def in_order(sites, ready, open_slots, parameters, first, last, by_left, times):  # type: ignore[no-untyped-def]
    """Sort ``by_left[first:last]``, stages of equal ``left``, by the time that each would take now."""
    share, most = np.empty((2, len(open_slots)))
    for place in range(first, last):
        row = by_left[place]
        times[row] = estimate(sites, ready, row, open_slots, parameters, share, most)
    for place in range(first + 1, last):
        row = by_left[place]
        slot = place
        while slot > first and times[by_left[slot - 1]] > times[row]:
            by_left[slot] = by_left[slot - 1]
            slot -= 1
        by_left[slot] = row


def _decide(now, sites, ready, changed, parameters, rows, why):  # type: ignore[no-untyped-def]
    m, n = ready.here.shape
    open_slots = open_now(sites.free)
    free = open_slots.sum()
    if m == 0 or (free == 0 and not changed):
        return 0
    fair = parameters[FAIR_ORDER] > 0.0
    order = by_size(-1.0 * ready.left)
    if fair:
        order = np.arange(m)
    times, lent = np.empty(m), np.empty(n, np.int64)
    tasks = ready.waiting.sum()
    count, unserved, sorted_to = 0, tasks, 0
    for place in range(m):
        if place >= sorted_to and not fair:
            sorted_to = place + 1
            while sorted_to < m and ready.left[order[sorted_to]] == ready.left[order[place]]:
                sorted_to += 1
            if sorted_to - place > 1 and parameters[KEEP_SITES] <= 0.0:
                in_order(sites, ready, open_slots, parameters, place, sorted_to, order, times)
        row = order[place]
        unserved -= ready.waiting[row]
        # What the jobs not served yet must keep, by their tasks.
        reserved = (1.0 - parameters[EPSILON]) * free * unserved / max(tasks, 1)
        limit = int(np.floor(open_slots.sum() - reserved + 1e-9))
        for x in range(n):
            lent[x] = -(-open_slots[x] // (m - place)) if fair else open_slots[x]
            open_slots[x] -= lent[x]
        if fair:
            limit = lent.sum()
        if limit > 0 or changed:
            count = begin(sites, ready, row, lent, limit, parameters, changed, rows, why, count)
        for x in range(n):
            open_slots[x] += lent[x]
        if open_slots.sum() == 0 and not changed:
            break
    return count


DECIDE = Kernel(_decide, PLACE)
