"""A decision of Tetrium, compiled: the order of jobs, the placement of their tasks, and the tasks that start now."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel, helper, lean
from windlass.place.compiled import PLACE
from windlass.place.lib.options import PlacementOptions, options_of
from windlass.place.lib.pick import REASONS, REMOTE, SHUFFLE, Starts, put, start_maps
from windlass.place.lib.replan import change_few
from windlass.place.lib.reverse import Behind, map_share
from windlass.place.lib.search import NO_BUDGET, SOLVED, parts, total_of
from windlass.place.lib.stage import StageLoad, StageResources, by_size, solve_reduce
from windlass.place.lib.whole import move_least, whole, whole_within
from windlass.place.view import Ready, Sites

OVER = len(REASONS)
REASONS_OF_BUDGET = (
    *REASONS,
    "moves more than its budget ρ allows: its input is at sites without slots",
)


class Room(NamedTuple):
    """Work space, arrays of length n; ``flow`` (n, n). Made once per decision, because compiling allocations is slow.

    ``over`` (1,) is 1 if the last planned stage cannot keep to its budget.
    """

    share: NDArray[np.float64]
    most: NDArray[np.float64]
    slots: NDArray[np.float64]
    data: NDArray[np.float64]
    counts: NDArray[np.int64]
    take: NDArray[np.int64]
    before: NDArray[np.int64]
    ideal: NDArray[np.int64]
    lent: NDArray[np.int64]
    flow: NDArray[np.int64]
    over: NDArray[np.int64]


class Decision(NamedTuple):
    """Everything that one decision works on: the view, the parameters, work space, and the starts."""

    sites: Sites
    ready: Ready
    changed: bool
    options: PlacementOptions
    room: Room
    starts: Starts


@helper
def make_room(n):
    """Return work space for n sites."""
    floats, ints = np.empty((4, n)), np.empty((5, n), np.int64)
    return Room(
        share=floats[0],
        most=floats[1],
        slots=floats[2],
        data=floats[3],
        counts=ints[0],
        take=ints[1],
        before=ints[2],
        ideal=ints[3],
        lent=ints[4],
        flow=np.empty((n, n), np.int64),
        over=np.zeros(1, np.int64),
    )


@helper
def open_now(free):
    """Return the free slots of each site, 0 if more are held than the site has now."""
    slots = np.empty(len(free), np.int64)
    for x in range(len(free)):
        slots[x] = max(free[x], 0)
    return slots


@lean
def budget_of(data, slots, down, rho, shuffles):
    """Return the bytes that a stage may send: W_min + ρ (W_max − W_min), infinity at ρ = 1."""
    if rho >= 1.0:
        return np.inf
    total = total_of(data)
    if not shuffles:
        return rho * total
    kept = 0.0
    for x in range(len(data)):
        if slots[x] > 0.0 and (down[x] > 0.0 or data[x] >= total):
            kept = max(kept, data[x])
    # The factor covers rounding; exactly the minimum could leave no feasible plan.
    return (total - kept) * (1.0 + 1e-12) + rho * kept


@lean
def read_at(decision, row):
    """Fill ``data`` with what waiting tasks of a stage read at each site; return whether these are its true bytes.

    Maps that read nothing count one byte each if they have to stay in place, by the policy or because nothing
    can leave their site. By their true bytes, no task would be planned there, and they would wait forever.
    """
    sites, ready, data = decision.sites, decision.ready, decision.room.data
    total, held = 0.0, decision.options.iridium > 0.0
    for x in range(len(data)):
        data[x] = ready.data[row, x]
        total += data[x]
        held = held or (sites.up[x] <= 0.0 and ready.here[row, x] > 0)
    if ready.shuffles[row] != 0 or total > 0.0 or not held:
        return True
    for x in range(len(data)):
        data[x] = ready.here[row, x]
    return False


@lean
def estimate(decision, row, open_slots):
    """Fill ``share`` and ``most`` for the waiting tasks of a stage; return its time, infinity if it cannot run.

    A full site counts as one slot, because one will be free soon, and a plan must not ignore the data there.
    """
    sites, ready, options, room = decision.sites, decision.ready, decision.options, decision.room
    n = len(open_slots)
    slots, data, share, most = room.slots, room.data, room.share, room.most
    in_bytes = read_at(decision, row)
    for x in range(n):
        slots[x] = open_slots[x] if open_slots[x] > 0 else min(1, sites.slots[x])
        if slots[x] <= 0.0 and sites.up[x] <= 0.0 and not ready.shuffles[row]:
            data[x] = 0.0
    work = ready.task_s[row] * ready.waiting[row]
    # A wave takes at least one task's time; without this limit, tasks would move away from free slots.
    wave = 1.0 / max(ready.waiting[row], 1)
    resources, shuffles = StageResources(slots, sites.up, sites.down), ready.shuffles[row] != 0
    budget = budget_of(data, slots, sites.down, options.rho, shuffles) if in_bytes else np.inf
    if shuffles and options.iridium > 0.0:
        work, wave = 0.0, 0.0
    total, status = np.inf, NO_BUDGET
    room.over[0] = 0
    while status == NO_BUDGET:
        load = StageLoad(work, budget, wave)
        if shuffles:
            transfer, compute, status, _ = solve_reduce(data, resources, load, share, most)
            total = transfer + compute
        elif options.iridium > 0.0:
            total, status = in_place_time(data, slots, sites.down, work, share), SOLVED
            for x in range(n):
                most[x] = share[x]
        else:
            behind, direction = Behind(ready.next_work[row], ready.ratio[row]), int(options.direction)
            total, status = map_share(data, resources, load, behind, direction, share, most)
        if budget == np.inf or status != NO_BUDGET:
            break
        # A stage whose data is at sites without slots cannot keep to its budget, so it is placed without;
        # the reason states this.
        budget = np.inf
        room.over[0] = 1
    return total if status == SOLVED else np.inf


@lean
def in_place_time(data, slots, down, work, share):
    """Fill ``share`` with the data's shares, with those of sites without slots at the largest; return compute time."""
    total, longest, largest = max(total_of(data), 1e-300), 0.0, 0
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


@lean
def plan_stage(decision, row):
    """Fill ``counts`` with the whole tasks of a stage for each site; return whether there is a plan.

    With kept plans, a plan is made for all slots, not only for those lent now, and is adjusted when sites
    change.
    """
    sites, ready, options, room = decision.sites, decision.ready, decision.options, decision.room
    counts = room.counts
    n = len(counts)
    room.over[0] = 0
    keep = int(options.keep_sites)
    kept = keep > 0 and ready.plan[row, 0] >= 0
    if kept:
        for x in range(n):
            counts[x] = max(0, ready.plan[row, x] - ready.started[row, x])
        if not decision.changed:
            return True
    slots = sites.slots if keep > 0 else room.lent
    if estimate(decision, row, slots) == np.inf:
        return kept
    if kept:
        for x in range(n):
            room.before[x] = counts[x]
        whole_within(room.share, room.most, total_of(room.before), room.ideal)
        change_few(room.before, room.ideal, keep, counts)
    else:
        whole_within(room.share, room.most, ready.waiting[row], counts)
    if keep > 0:
        for x in range(n):
            ready.plan[row, x] = ready.started[row, x] + counts[x]
    return True


@lean
def begin(decision, row, limit, count):
    """Place one stage and start tasks on the lent slots, at most ``limit``; return the new number of starts."""
    sites, ready, room, starts = decision.sites, decision.ready, decision.room, decision.starts
    lent, share, counts, take, flow = room.lent, room.share, room.counts, room.take, room.flow
    n = len(lent)
    if not plan_stage(decision, row):
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
            count = put(starts, count, row, -1, y, take[y], OVER if room.over[0] else SHUFFLE)
        return count
    move_least(ready.here[row], counts, sites.up, flow)
    for x in range(n):
        for y in range(n):
            # Tasks whose input cannot leave wait for a slot at its site.
            if x != y and (sites.up[x] <= 0.0 or sites.down[y] <= 0.0):
                flow[x, y] = 0
    first = count
    count = start_maps(starts, count, row, flow, take, sites.up, decision.options)
    for start in range(first, count):
        if room.over[0] and starts.why[start] == REMOTE:
            starts.why[start] = OVER
    return count


@lean
def in_order(decision, open_slots, first, last, by_left, times):
    """Sort ``by_left[first:last]``, stages with equal ``left``, by the time that each would take now."""
    for place in range(first, last):
        row = by_left[place]
        times[row] = estimate(decision, row, open_slots)
    for place in range(first + 1, last):
        row = by_left[place]
        slot = place
        while slot > first and times[by_left[slot - 1]] > times[row]:
            by_left[slot] = by_left[slot - 1]
            slot -= 1
        by_left[slot] = row


@lean
def serve(decision, open_slots, order, times):
    """Serve stages in ``order``, with ties of ``left`` by the time that they would take; return the count."""
    ready, options, changed, lent = decision.ready, decision.options, decision.changed, decision.room.lent
    m, n = ready.here.shape
    free, tasks = total_of(open_slots), total_of(ready.waiting)
    fair = options.fair_order > 0.0
    count, unserved, sorted_to = 0, tasks, 0
    for place in range(m):
        if place >= sorted_to and not fair:
            sorted_to = place + 1
            while sorted_to < m and ready.left[order[sorted_to]] == ready.left[order[place]]:
                sorted_to += 1
            if sorted_to - place > 1:
                in_order(decision, open_slots, place, sorted_to, order, times)
        row = order[place]
        unserved -= ready.waiting[row]
        # Slots reserved for jobs that are not served yet, by their number of tasks.
        reserved = (1.0 - options.epsilon) * free * unserved / max(tasks, 1)
        limit = int(np.floor(total_of(open_slots) - reserved + 1e-9))
        for x in range(n):
            lent[x] = -(-open_slots[x] // (m - place)) if fair else open_slots[x]
            open_slots[x] -= lent[x]
        if fair:
            limit = total_of(lent)
        if limit > 0 or changed:
            count = begin(decision, row, limit, count)
        for x in range(n):
            open_slots[x] += lent[x]
        if total_of(open_slots) == 0 and not changed:
            break
    return count


def _decide(now, sites, ready, changed, parameters, starts):
    m, n = ready.here.shape
    open_slots = open_now(sites.free)
    if m == 0 or (total_of(open_slots) == 0 and not changed):
        return 0
    options = options_of(parameters)
    order = np.arange(m) if options.fair_order > 0.0 else by_size(parts(ready.left, -1.0))
    decision = Decision(sites, ready, changed, options, make_room(n), starts)
    return serve(decision, open_slots, order, np.empty(m))


DECIDE = Kernel(_decide, PLACE)
