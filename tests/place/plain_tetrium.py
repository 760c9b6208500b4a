"""Tetrium's forward decision in plain Python, on top of the programs of single stages."""

from __future__ import annotations

import math

import numpy as np
from numba import types

from windlass.jit import Kernel
from windlass.place import replan
from windlass.place.lib.search import NO_BUDGET, SOLVED
from windlass.place.lib.stage import StageLoad, StageResources, solve_map, solve_reduce

_floats = types.float64[::1]
_SOLVE = [
    Kernel(
        solve.py_func,
        types.Tuple((types.float64, types.float64, types.int64, types.int64))(
            _floats,
            types.NamedUniTuple(_floats, 3, StageResources),
            types.NamedUniTuple(types.float64, 3, StageLoad),
            _floats,
            _floats,
        ),
    )
    for solve in (solve_map, solve_reduce)
]
LOCAL, REMOTE, SHUFFLE, OVER = range(4)


def estimate(view, row, opened, rho):
    """Seconds of what waits of a stage on these slots, its shares, the most of them, and whether it is over budget."""
    sites, ready = view.sites, view.ready
    data, slots = (
        ready.data[row].copy(),
        np.where(opened > 0, opened, np.minimum(sites.slots, 1)).astype(float),
    )
    shuffles, in_bytes = bool(ready.shuffles[row]), True
    if not shuffles and data.sum() == 0 and ((sites.up <= 0) & (ready.here[row] > 0)).any():
        data, in_bytes = ready.here[row].astype(float), False
    if not shuffles:
        data[(slots <= 0) & (sites.up <= 0)] = 0.0
    budget, total = math.inf, data.sum()
    if in_bytes and rho < 1.0:
        stays = (slots > 0) & ((sites.down > 0) | (data >= total))
        kept = data[stays].max(initial=0.0)
        budget = (total - kept) * (1 + 1e-12) + rho * kept if shuffles else rho * total
    waiting, n = int(ready.waiting[row]), len(slots)
    share, most, over = np.empty(n), np.empty(n), False
    while True:
        load = StageLoad(float(ready.task_s[row]) * waiting, float(budget), 1.0 / max(waiting, 1))
        sites_now = StageResources(slots, sites.up, sites.down)
        transfer, compute, status, _ = _SOLVE[shuffles].ready()(data, sites_now, load, share, most)
        if status != NO_BUDGET or budget == math.inf:
            break
        budget, over = math.inf, True
    return (transfer + compute if status == SOLVED else math.inf), share, most, over


def largest_remainders(share, tasks):
    """Whole tasks by a share: rounded down, and one more where the remainder is largest."""
    total = sum(max(0.0, each) for each in share)
    if total <= 0 or tasks <= 0:
        return [0] * len(share)
    exact = [max(0.0, each) * tasks / total for each in share]
    counts = [math.floor(each + 1e-6) for each in exact]
    order = sorted(range(len(share)), key=lambda x: (share[x] <= 0, -(exact[x] - counts[x])))
    for x in order[: tasks - sum(counts)]:
        counts[x] += 1
    return counts


def within(share, most, tasks):
    """Whole tasks by a share: rounded down, and each one left where the count is least over what a site can hold."""
    counts = [math.floor(max(0.0, each) * tasks + 1e-6) for each in share]
    while sum(counts) < tasks:
        open_to = [x for x in range(len(share)) if most[x] > 0]
        if not open_to:
            break
        counts[min(open_to, key=lambda x: ((counts[x] + 1) / most[x], x))] += 1
    return counts if sum(counts) == tasks else largest_remainders(share, tasks)


def moves(here, wanted, up):
    """From where input lies to where it is wanted: what can stays, the narrowest uplink goes first."""
    n, sink = len(here), 0
    flow = np.diag(np.minimum(here, wanted))
    need = [int(wanted[x] - flow[x, x]) for x in range(n)]
    for source in sorted(range(n), key=lambda x: (up[x], x)):
        left = int(here[source] - flow[source, source])
        while left > 0:
            while need[sink] <= 0:
                sink = (sink + 1) % n
            moved = min(left, need[sink])
            flow[source, sink] += moved
            need[sink] -= moved
            left -= moved
    return flow


def sources(flow, y, away, up, spread):
    """How many of site y's remote tasks read from each source."""
    n = len(up)
    planned = [int(flow[x, y]) if x != y else 0 for x in range(n)]
    chosen = [0] * n
    narrow = sorted(range(n), key=lambda x: (up[x], x))
    if not spread:
        for x in narrow:
            chosen[x] = min(away, planned[x])
            away -= chosen[x]
        return chosen
    while away > 0:
        left = [x for x in narrow if chosen[x] < planned[x]]
        if not left:
            break
        each = away // len(left)
        for x in left if each else left[:away]:
            more = min(each or 1, planned[x] - chosen[x])
            chosen[x] += more
            away -= more
    return chosen


def planned(view, row, opened, rho, keep, plan):
    """Tasks of a stage for each site, or None where it cannot run; whether that is over budget.

    A kept plan is for all slots, and changes at few sites where resources changed; ``plan`` (m, n) is written over.
    """
    sites, ready = view.sites, view.ready
    kept, counts, tasks = keep > 0 and plan[row, 0] >= 0, None, int(ready.waiting[row])
    if kept:
        counts = np.maximum(0, plan[row] - ready.started[row])
        tasks = int(counts.sum())
        if not view.changed:
            return counts.tolist(), False
    time, share, most, over = estimate(view, row, sites.slots if keep else opened, rho)
    if time < math.inf:
        ideal = within(share, most, tasks)
        counts = replan(counts, ideal, keep) if kept else np.array(ideal)
        if keep:
            plan[row] = ready.started[row] + counts
    return None if counts is None else counts.tolist(), over


def tetrium(
    view, epsilon=1.0, rho=1.0, local_share=0.1, map_order="remote-spread", update_sites=0, spread=None
):
    """Starts, the code of the reason of each, and the plans after that."""
    sites, ready = view.sites, view.ready
    opened, plan = np.maximum(sites.free, 0), ready.plan.copy()
    m, n = ready.here.shape
    spread = map_order != "remote" if spread is None else spread
    free, tasks, unserved = int(opened.sum()), int(ready.waiting.sum()), int(ready.waiting.sum())
    rest, queue, starts, why = sorted(range(m), key=lambda row: (ready.left[row], row)), [], [], []
    while (rest or queue) and (opened.sum() > 0 or view.changed):
        if not queue:
            queue = [row for row in rest if ready.left[row] == ready.left[rest[0]]]
            rest = rest[len(queue) :]
            if len(queue) > 1:
                queue.sort(key=lambda row: estimate(view, row, opened, rho)[0])
        row = queue.pop(0)
        unserved -= int(ready.waiting[row])
        limit = math.floor(opened.sum() - (1 - epsilon) * free * unserved / max(tasks, 1) + 1e-9)
        if limit <= 0 and not view.changed:
            continue
        counts, over = planned(view, row, opened, rho, update_sites, plan)
        if counts is None:
            continue
        take = [min(int(opened[x]), counts[x]) for x in range(n)]
        if sum(take) > limit:
            take = largest_remainders([float(each) for each in take], limit)
        opened = opened - take
        for start, reason in begun(view, row, counts, take, over, local_share, map_order, spread):
            starts.append(start)
            why.append(reason)
    return starts, why, plan


def begun(view, row, counts, take, over, local_share, map_order, spread):
    """The starts of one stage."""
    sites, ready, n = view.sites, view.ready, len(take)
    if ready.shuffles[row]:
        for y in range(n):
            if take[y]:
                yield [row, -1, y, take[y]], OVER if over else SHUFFLE
        return
    flow = moves(ready.here[row], np.array(counts), sites.up)
    for x in range(n):
        for y in range(n):
            if x != y and (sites.up[x] <= 0 or sites.down[y] <= 0):
                flow[x, y] = 0
    for y in range(n):
        local, remote = int(flow[y, y]), int(flow[:, y].sum() - flow[y, y])
        if map_order == "local":
            away = min(remote, max(take[y] - local, 0))
        else:
            away = min(remote, take[y] - min(local, math.ceil(local_share * take[y])))
        if min(local, take[y] - away) > 0:
            yield [row, y, y, min(local, take[y] - away)], LOCAL
        for x, count in enumerate(sources(flow, y, away, sites.up, spread)):
            if count:
                yield [row, x, y, count], OVER if over else REMOTE
