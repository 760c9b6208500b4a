"""Reduce-first planning: the intermediate distribution for the fastest shuffle, and map placements that produce it."""

from typing import NamedTuple

import numpy as np

from windlass.jit import allocating, lean
from windlass.place.lib.search import ROUNDING, SOLVED, copy, parts, total_of
from windlass.place.lib.stage import StageLoad, solve_map, solve_reduce


class Behind(NamedTuple):
    """The shuffle behind a map stage: its ``work``, slot-seconds, 0 for none, and the bytes it reads per byte read."""

    work: float
    ratio: float


@allocating
def shuffle_least(share, up, down, portion, wanted):
    """Fill ``wanted`` (n,) with the intermediate distribution that reduce tasks at ``share`` shuffle fastest.

    ``up`` and ``down`` are per byte of the whole shuffle. The shuffle takes T if each site's portion is
    between 1 − T · down / share and T · up / (1 − share). Of the distributions with the least T, the one
    nearest to ``portion``, the distribution of the input, is used. Return T.
    """
    n = len(share)
    transfer = 0.0
    while True:
        # The sum of upper bounds must reach 1 and that of lower bounds must not exceed it: Newton steps from
        # below.
        room, room_slope, kept, kept_slope = 0.0, 0.0, 0.0, 0.0
        for x in range(n):
            out = up[x] / max(1.0 - share[x], 1e-300)
            if transfer * out < 1.0:
                room += transfer * out
                room_slope += out
            else:
                room += 1.0
            into = down[x] / max(share[x], 1e-300)
            if share[x] > 0.0 and transfer * into < 1.0:
                kept += 1.0 - transfer * into
                kept_slope += into
        step = 0.0
        if room < 1.0 - ROUNDING:
            step = (1.0 - room) / room_slope if room_slope > 0.0 else np.inf
        if kept > 1.0 + ROUNDING:
            step = max(step, (kept - 1.0) / kept_slope if kept_slope > 0.0 else np.inf)
        if step == np.inf:
            copy(portion, wanted)
            return np.inf
        if step == 0.0 or transfer + step == transfer:
            break
        transfer += step
    for x in range(n):
        # The two bounds of a site must not cross either.
        out, into = up[x] / max(1.0 - share[x], 1e-300), down[x] / max(share[x], 1e-300)
        if share[x] > 0.0 and out + into > 0.0:
            transfer = max(transfer, 1.0 / (out + into))
    clip_to_sum(share, up, down, portion, transfer, wanted)
    return transfer


@allocating
def clip_to_sum(share, up, down, portion, transfer, wanted):
    """Fill ``wanted`` with ``portion`` clipped to its bounds, and spread the rest over the remaining room."""
    n = len(share)
    low, high = np.empty(n), np.empty(n)
    total = 0.0
    for x in range(n):
        high[x] = min(1.0, transfer * up[x] / max(1.0 - share[x], 1e-300))
        low[x] = min(high[x], max(0.0, 1.0 - transfer * down[x] / max(share[x], 1e-300)))
        wanted[x] = min(max(portion[x], low[x]), high[x])
        total += wanted[x]
    more = total < 1.0
    room = 0.0
    for x in range(n):
        room += high[x] - wanted[x] if more else wanted[x] - low[x]
    if room > 0.0:
        part = min(1.0, abs(1.0 - total) / room)
        for x in range(n):
            wanted[x] += part * ((high[x] if more else low[x]) - wanted[x])


@lean
def times_of_map(portion, share, sites, total, work):
    """Return transfer and compute time of a map stage whose tasks run by ``share``; infinity if they cannot."""
    slots, up, down = sites.slots, sites.up, sites.down
    transfer, compute = 0.0, 0.0
    for x in range(len(share)):
        leaving = max(0.0, portion[x] - share[x]) * total
        coming = max(0.0, share[x] - portion[x]) * total
        if leaving > ROUNDING * total:
            transfer = max(transfer, leaving / up[x] if up[x] > 0.0 else np.inf)
        if coming > ROUNDING * total:
            transfer = max(transfer, coming / down[x] if down[x] > 0.0 else np.inf)
        if share[x] > ROUNDING:
            compute = max(compute, work * share[x] / slots[x] if slots[x] > 0.0 else np.inf)
    return transfer, compute


@allocating
def map_share(data, sites, load, behind, direction, share, most):
    """Fill ``share``, and ``most`` with what sites can hold, by direction: 0 forward, 1 reverse, 2 the better of both.

    The better one has the smaller time of the map stage and of the shuffle behind it. Return the time of the
    map stage and a status.
    """
    transfer, compute, status, _ = solve_map(data, sites, load, share, most)
    slots = sites.slots
    total = total_of(data)
    if status != SOLVED or direction == 0 or behind.work <= 0.0 or total <= 0.0:
        return transfer + compute, status
    n = len(data)
    reverse, wanted, scratch, room = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    written = total * behind.ratio
    if written <= 0.0 or total_of(slots) <= 0.0:
        return transfer + compute, status
    portion = parts(data, total)
    up, down = parts(sites.up, written), parts(sites.down, written)
    shuffle_least(parts(slots, total_of(slots)), up, down, portion, wanted)
    for x in range(n):
        reverse[x] = wanted[x] if slots[x] > 0.0 else 0.0
    kept = total_of(reverse)
    if kept <= 0.0:
        return transfer + compute, status
    for x in range(n):
        reverse[x] /= kept
    back_transfer, back_compute = times_of_map(portion, reverse, sites, total, load.work)
    moved = 0.0
    for x in range(n):
        moved += max(0.0, data[x] - reverse[x] * total)
    if back_transfer + back_compute == np.inf or moved > load.budget:
        return transfer + compute, status
    if direction == 2:
        forward_s, reverse_s = transfer + compute, back_transfer + back_compute
        for turn in range(2):
            for x in range(n):
                wanted[x] = (share[x] if turn == 0 else reverse[x]) * written
            then = solve_reduce(wanted, sites, StageLoad(behind.work, np.inf, 0.0), scratch, room)
            after = then[0] + then[1] if then[2] == SOLVED else np.inf
            if turn == 0:
                forward_s += after
            else:
                reverse_s += after
        if forward_s <= reverse_s:
            return transfer + compute, status
    for x in range(n):
        share[x] = most[x] = reverse[x]
    return back_transfer + back_compute, status
