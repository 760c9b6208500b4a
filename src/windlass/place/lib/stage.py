"""Placement of one map stage and of one reduce stage, compiled; see :mod:`windlass.place.lib.search` for the method."""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, allocating, lean
from windlass.place.lib.search import (
    NO_BUDGET,
    NO_ROOM,
    ROUNDING,
    SOLVED,
    StageConstraints,
    fill,
    parts,
    search,
    total_of,
)

#: Further results: data at a site with neither slots nor an uplink; an invalid value.
STRANDED, BAD_VALUE = 3, 4


class StageResources(NamedTuple):
    """Resources of n sites for a stage: slots, and the uplink and downlink of each, bytes/s."""

    slots: NDArray[np.float64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]


class StageLoad(NamedTuple):
    """Demand of a stage in addition to its data.

    ``work`` is in slot-seconds; ``budget`` is the maximum number of bytes that it may send, infinity for no
    limit; ``wave`` is the least pace: one divided by the number of tasks if no wave is shorter than a task,
    else 0.
    """

    work: float
    budget: float
    wave: float


@allocating
def by_size(values):
    """Return indices sorted by value, largest first, ties by index."""
    order = np.empty(len(values), np.int64)
    for index in range(len(values)):
        slot = index
        while slot > 0 and values[order[slot - 1]] < values[index]:
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = index
    return order


@lean
def refused(data, slots, up, down):
    """Return which argument (0-3) has a negative or infinite value, and its index; −1 for none."""
    for x in range(len(data)):
        if not (0.0 <= data[x] < np.inf):
            return 0, x
        if not (0.0 <= slots[x] < np.inf):
            return 1, x
        if not (0.0 <= up[x] < np.inf):
            return 2, x
        if not (0.0 <= down[x] < np.inf):
            return 3, x
    return -1, 0


@allocating
def solve_map(data, sites, load, share, most):
    """Fill ``share`` (n,) with the fraction of map tasks for each site, ``most`` with what it can hold in time.

    Return transfer time, compute time, status, and the index of the site that an error is about.
    """
    slots, work = sites.slots, load.work
    n = len(data)
    total = total_of(data)
    if total <= 0.0:
        return spread_by_slots(slots, work, share, most)
    portion = parts(data, total)
    out, into = parts(sites.up, total), parts(sites.down, total)
    least_transfer, least_pace = 0.0, unbound(slots, work, load.wave)
    for x in range(n):
        if portion[x] <= 0.0:
            continue
        if slots[x] <= 0.0:
            if out[x] <= 0.0:
                return 0.0, 0.0, STRANDED, x
            least_transfer = max(least_transfer, portion[x] / out[x])
        elif out[x] <= 0.0:
            least_pace = max(least_pace, portion[x] / slots[x])
    if load.budget < total:
        pace, status = pace_within(portion, slots, load.budget / total)
        if status != SOLVED:
            return 0.0, 0.0, status, 0
        least_pace = max(least_pace, pace)
    order = np.zeros(n, np.int64)
    transfer, pace, status = search(
        StageConstraints(
            need=portion,
            base=portion,
            up=out,
            down=into,
            slots=slots,
            data=portion,
            order=order,
            work=work,
            least_transfer=least_transfer,
            least_pace=least_pace,
            target=0.0,
        )
    )
    leaving, room = 0.0, 0.0
    for x in range(n):
        most[x] = min(portion[x] + transfer * into[x], pace * slots[x])
        leaving += max(0.0, portion[x] - pace * slots[x])
        room += max(0.0, min(transfer * into[x], pace * slots[x] - portion[x]))
    for x in range(n):
        if portion[x] >= pace * slots[x]:
            share[x] = pace * slots[x]
        elif room > 0.0:
            share[x] = portion[x] + min(transfer * into[x], pace * slots[x] - portion[x]) * (leaving / room)
        else:
            share[x] = portion[x]
    return transfer, work * pace, status, 0


@lean
def unbound(slots, work, wave):
    """Return the least pace; if computing takes no time, one at which slots do not constrain any site."""
    pace = wave
    if work <= 0.0:
        for x in range(len(slots)):
            if slots[x] > 0.0:
                pace = max(pace, 1.0 / slots[x])
    return pace


@lean
def spread_by_slots(slots, work, share, most):
    """Place tasks in proportion to slots, because there is nothing to read."""
    total = total_of(slots)
    if total <= 0.0:
        return 0.0, 0.0, NO_ROOM, 0
    for x in range(len(slots)):
        share[x] = slots[x] / total
        most[x] = share[x]
    return 0.0, work / total, SOLVED, 0


@lean
def pace_within(portion, slots, allowed):
    """Return the least pace at which at most this share of the data has to leave its sites, and a status.

    What has to leave, Σ (portion − pace · slots)⁺, is convex and decreasing, so Newton steps from below reach
    the root.
    """
    pace = 0.0
    while True:
        leaving, slope = 0.0, 0.0
        for x in range(len(portion)):
            if portion[x] > pace * slots[x]:
                leaving += portion[x] - pace * slots[x]
                slope += slots[x]
        if leaving <= allowed + ROUNDING:
            return pace, SOLVED
        if slope <= 0.0:
            return pace, NO_BUDGET
        step = (leaving - allowed) / slope
        if pace + step == pace:
            return pace, SOLVED
        pace += step


@allocating
def solve_reduce(data, sites, load, share, most):
    """Fill ``share`` (n,) with the fraction of reduce tasks for each site, and ``most``; see :func:`solve_map`."""
    slots, up, down = sites.slots, sites.up, sites.down
    work, budget = load.work, load.budget
    n = len(data)
    total = total_of(data)
    if total <= 0.0:
        return spread_by_slots(slots, work, share, most)
    portion = parts(data, total)
    need, base, out, into = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    least_transfer, least_pace = 0.0, unbound(slots, work, load.wave)
    for x in range(n):
        if portion[x] > 0.0:
            need[x] = 1.0
            out[x] = up[x] / data[x]
        if data[x] >= total:
            # All data is here, so nothing is read from other sites for any share.
            base[x] = 1.0
        else:
            into[x] = down[x] / (total - data[x])
        if need[x] <= 0.0:
            continue
        if out[x] <= 0.0:
            if slots[x] <= 0.0 or (into[x] <= 0.0 and base[x] <= 0.0):
                return 0.0, 0.0, STRANDED, x
            least_pace = max(least_pace, 1.0 / slots[x])
        elif slots[x] <= 0.0:
            least_transfer = max(least_transfer, 1.0 / out[x])
        if base[x] <= 0.0:
            least_transfer = max(least_transfer, 1.0 / (out[x] + into[x]))
    least_transfer, status = enough_to_leave(need, out, least_transfer)
    if status != SOLVED:
        return 0.0, 0.0, status, 0
    order = by_size(portion)
    target = 0.0 if budget >= total else 1.0 - budget / total
    transfer, pace, status = search(
        StageConstraints(
            need=need,
            base=base,
            up=out,
            down=into,
            slots=slots,
            data=portion,
            order=order,
            work=work,
            least_transfer=least_transfer,
            least_pace=least_pace,
            target=target,
        )
    )
    if status != SOLVED:
        return transfer, pace, status, 0
    rest = 1.0
    for x in range(n):
        share[x] = min(max(0.0, need[x] - transfer * out[x]), pace * slots[x])
        most[x] = min(base[x] + transfer * into[x], pace * slots[x])
        rest -= share[x]
    # Of all optimal shares, choose those that leave the most bytes in place.
    for place in range(n):
        x = order[place]
        more = most[x] - share[x]
        more = max(0.0, min(more, rest))
        share[x] += more
        rest -= more
    return transfer, work * pace, status, 0


@lean
def enough_to_leave(need, out, transfer):
    """Return the least transfer time, at least the given one, after which Σ (need − T · out)⁺ ≤ 1, and a status."""
    while True:
        kept, slope = 0.0, 0.0
        for x in range(len(need)):
            if need[x] > transfer * out[x]:
                kept += need[x] - transfer * out[x]
                slope += out[x]
        if kept <= 1.0 + ROUNDING:
            return transfer, SOLVED
        if slope <= 0.0:
            return transfer, NO_ROOM
        step = (kept - 1.0) / slope
        if transfer + step == transfer:
            return transfer, SOLVED
        transfer += step


@lean
def transport(portion, share, flow):
    """Fill ``flow`` (n, n) with the site where each site's portion is computed; column sums are ``share``.

    What a site keeps is on the diagonal. Surplus is matched with need in the order of sites, so at most 2n −
    1 entries off the diagonal are not 0.
    """
    n = len(portion)
    for x in range(n):
        fill(flow[x], 0)
    sink = 0
    wanted = max(share[0] - portion[0], 0)
    for x in range(n):
        left = max(portion[x] - share[x], 0)
        flow[x, x] = portion[x] - left
        while left > 0:
            while sink < n - 1 and (wanted <= 0 or sink == x):
                sink += 1
                wanted = max(share[sink] - portion[sink], 0)
            if sink == x or wanted <= 0:
                # Only a rounding error can be left without a sink.
                flow[x, x] += left
                break
            moved = min(left, wanted)
            flow[x, sink] += moved
            left -= moved
            wanted -= moved


def _map_stage(data, slots, up, down, work, budget, share, flow):
    which, where = refused(data, slots, up, down)
    if which >= 0:
        return 0.0, 0.0, BAD_VALUE + which, where
    sites, load = StageResources(slots, up, down), StageLoad(work, budget, 0.0)
    result = solve_map(data, sites, load, share, np.empty(len(data)))
    if result[2] == SOLVED:
        total = total_of(data)
        transport(parts(data, total) if total > 0.0 else share, share, flow)
    return result


def _reduce_stage(data, slots, up, down, work, budget, share):
    which, where = refused(data, slots, up, down)
    if which >= 0:
        return 0.0, 0.0, BAD_VALUE + which, where
    sites, load = StageResources(slots, up, down), StageLoad(work, budget, 0.0)
    return solve_reduce(data, sites, load, share, np.empty(len(data)))


_floats, _float = types.float64[::1], types.float64
_ANSWER = types.Tuple((_float, _float, types.int64, types.int64))
MAP_STAGE = Kernel(_map_stage, _ANSWER(*(_floats,) * 4, _float, _float, _floats, types.float64[:, ::1]))
REDUCE_STAGE = Kernel(_reduce_stage, _ANSWER(*(_floats,) * 4, _float, _float, _floats))
