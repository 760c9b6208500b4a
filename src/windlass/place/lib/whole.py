"""Conversion of fractions of tasks into whole tasks with the same sums, each off by less than one task."""

import numpy as np

from windlass.jit import allocating, lean
from windlass.place.lib.search import fill, total_of


@allocating
def whole(share, tasks, counts):
    """Fill ``counts`` (n,) with whole tasks by ``share`` (n,), which need not sum to 1: largest remainders first.

    Sites without a share get none.
    """
    round_shares(share, tasks, np.empty(len(share)), 0.0, counts)


@lean
def round_shares(share, tasks, rest, close, counts):
    """Round shares with work space ``rest`` (n,); of remainders within ``close`` of each other the first counts."""
    n = len(share)
    total = 0.0
    for x in range(n):
        total += max(0.0, share[x])
    fill(counts, 0)
    if total <= 0.0 or tasks <= 0:
        return
    left = tasks
    for x in range(n):
        exact = max(0.0, share[x]) * tasks / total
        # A share that should be whole may be slightly below by rounding.
        counts[x] = int(np.floor(exact + 1e-6))
        rest[x] = exact - counts[x] if share[x] > 0.0 else -np.inf
        left -= counts[x]
    while left > 0:
        best = 0
        for x in range(1, n):
            if rest[x] > rest[best] + close:
                best = x
        counts[best] += 1
        rest[best] -= 1.0
        left -= 1
    while left < 0:
        best = -1
        for x in range(n):
            if counts[x] > 0 and (best < 0 or rest[x] < rest[best]):
                best = x
        counts[best] -= 1
        rest[best] += 1.0
        left += 1


@allocating
def whole_within(share, most, tasks, counts):
    """Fill ``counts`` (n,) with whole tasks by ``share`` (n,), exceeding bounds ``most`` (n,) as little as possible.

    Each site gets its share rounded down; each remaining task is placed where the new count is the smallest
    fraction of what the site can hold in time. Largest remainders could give a narrow site its first task,
    many times what it can hold.
    """
    n = len(share)
    left = tasks
    for x in range(n):
        counts[x] = int(np.floor(max(0.0, share[x]) * tasks + 1e-6))
        left -= counts[x]
    while left > 0:
        best, least = -1, np.inf
        for x in range(n):
            if most[x] > 0.0 and (counts[x] + 1) / most[x] < least:
                best, least = x, (counts[x] + 1) / most[x]
        if best < 0:
            break
        counts[best] += 1
        left -= 1
    if left != 0:
        whole(share, tasks, counts)


@allocating
def move_least(here, wanted, up, flow):
    """Fill ``flow`` (n, n) with whole tasks from the sites of their input to the wanted sites; sums agree.

    Each site keeps as many tasks as possible. Sources with the narrowest uplink are assigned first, to the
    sinks in order, each until it is full.
    """
    n = len(here)
    sink = 0
    need = np.empty(n, np.int64)
    for x in range(n):
        fill(flow[x], 0)
        flow[x, x] = min(here[x], wanted[x])
        need[x] = wanted[x] - flow[x, x]
    for _ in range(n):
        source = -1
        for x in range(n):
            spare = here[x] - total_of(flow[x])
            if spare > 0 and (source < 0 or up[x] < up[source]):
                source = x
        if source < 0:
            return
        left = here[source] - total_of(flow[source])
        while left > 0:
            while need[sink] <= 0:
                sink = (sink + 1) % n
            moved = min(left, need[sink])
            flow[source, sink] += moved
            need[sink] -= moved
            left -= moved
