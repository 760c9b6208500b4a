"""Gathering in plain Python: every stage in its turn, and then maps that read fast from where they would wait."""

from __future__ import annotations

import math

import numpy as np

from tests.place.plain_tetrium import _SOLVE, SHUFFLE, begun, largest_remainders, within
from tests.place.test_exact import chain_s
from windlass.place.lib.gather import Shuffle
from windlass.place.lib.stage import StageLoad, StageResources

ELSEWHERE = 3


class TooCloseError(Exception):
    """Two candidates take equally long within rounding; either is valid."""


def best(shuffle, sites, own, *, ahead):
    """Where a shuffle goes: its own optimum (or None), or each site alone, or the few with the most slots."""
    if not ahead or shuffle.after <= 0:
        return own
    n = len(sites.slots)
    order, tried = np.argsort(-sites.slots, kind="stable"), [*np.eye(n)]
    group = 2
    while group <= n:
        share = np.zeros(n)
        share[order[:group]] = sites.slots[order[:group]] / max(sites.slots[order[:group]].sum(), 1e-300)
        tried.append(share)
        group *= 2
    tried = tried if own is None else [own, *tried]
    costs = [chain_s(shuffle, sites, share) for share in tried]
    if sum(cost <= min(costs) * (1 + 1e-9) for cost in costs) > 1 and min(costs) < math.inf:
        raise TooCloseError
    return tried[int(np.argmin(costs))] if min(costs) < math.inf else own


def gather(view, ahead, slots_back, links_left, patience):
    """Starts, and the code of the reason of each."""
    sites, ready = view.sites, view.ready
    n, opened, found = len(sites.slots), np.maximum(sites.free, 0), []
    up = np.maximum(sites.up_free, links_left * sites.up)
    down = np.maximum(sites.down_free, links_left * sites.down)
    order = np.argsort(ready.left * ready.waiting * ready.task_s, kind="stable").tolist()
    for row in order:
        if opened.sum() == 0:
            break
        back = np.floor(slots_back * np.maximum(0, sites.slots - opened))
        slots = np.maximum(opened + back, np.minimum(1, sites.slots))
        waiting, data, task_s = int(ready.waiting[row]), ready.data[row].copy(), float(ready.task_s[row])
        here, shuffles = StageResources(slots, up, down), bool(ready.shuffles[row])
        if not shuffles:
            data[(slots <= 0) & (sites.up <= 0)] = 0.0
        share, most = np.empty(n), np.empty(n)
        load = StageLoad(waiting * task_s, math.inf, 1.0 / max(waiting, 1))
        solved = _SOLVE[shuffles].ready()(data, here, load, share, most)[2] == 0
        if shuffles:
            written = data.sum() / max(waiting, 1) * ready.total[row] * ready.ratio[row]
            after = float(ready.left[row] - 1)
            shuffle = Shuffle(data, ready.started[row], waiting, task_s, written, after)
            place = best(shuffle, here, share if solved else None, ahead=ahead)
            if place is None:
                continue
            take = np.minimum(largest_remainders(place, waiting), opened)
            found += [([row, -1, y, int(take[y])], SHUFFLE) for y in range(n) if take[y]]
        elif solved:
            counts = within(share, most, waiting)
            take = np.minimum(readable(view, row, counts), opened)
            found += begun(view, row, counts, take.tolist(), False, 0.0, "local", True)
        else:
            continue
        opened = opened - take
    found += rest(view, order, patience, opened, [start for start, _ in found])
    return [start for start, _ in found], [reason for _, reason in found]


def readable(view, row, counts):
    """Of what is planned at each site, what can get there."""
    flow = [0] * len(counts)
    every = [10**6] * len(counts)
    for (_, _, site, tasks), _ in begun(view, row, counts, every, False, 0.0, "local", True):
        flow[site] += tasks
    return flow


def carried(tasks, size, most):
    return tasks if tasks * size <= most else int(max(most, 0.0) / size)


def rest(view, order, patience, opened, starts):
    """Maps that wait at their input start elsewhere where reading takes little of their computing."""
    sites, ready = view.sites, view.ready
    n, opened, waits = len(sites.slots), opened.tolist(), ready.here.copy()
    up, down = sites.up_free.tolist(), sites.down_free.tolist()
    for row, source, _, tasks in starts:
        if source >= 0:
            waits[row, source] -= tasks
    for row in order:
        if ready.shuffles[row] or patience <= 0 or sum(opened) == 0:
            continue
        seconds = max(patience * ready.task_s[row], 1e-9)
        size = ready.data[row].sum() / max(ready.here[row].sum(), 1)
        away = [
            carried(int(waits[row, x]), size, up[x] * seconds) if opened[x] == 0 and sites.up[x] > 0 else 0
            for x in range(n)
        ]
        room = [carried(opened[y], size, down[y] * seconds) for y in range(n)]
        least = min(sum(away), sum(room))
        open_to = [room[y] if sites.down[y] > 0 else 0 for y in range(n)]
        least = min(least, sum(open_to))
        to, source = largest_remainders(open_to, least), largest_remainders(away, least)
        pairs = zip(
            [x for x in range(n) for _ in range(source[x])],
            [y for y in range(n) for _ in range(to[y])],
            strict=True,
        )
        counts = {}
        for pair in pairs:
            counts[pair] = counts.get(pair, 0) + 1
        for (x, y), went in counts.items():
            yield [row, x, y, went], ELSEWHERE
            opened[y] -= went
            up[x] -= went * size / seconds
            down[y] -= went * size / seconds
