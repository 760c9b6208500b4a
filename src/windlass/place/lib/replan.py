"""Changing a plan at a few sites only, when resources drop."""

import numpy as np

from windlass.jit import allocating
from windlass.place.lib.search import copy
from windlass.place.lib.stage import by_size


@allocating
def change_few(now, ideal, sites, changed):
    """Fill ``changed`` (n,) with the plan nearest to ``ideal`` that differs from ``now`` at so many sites at most.

    Over a chosen set A of k sites the tasks there can be dealt anew; with g = ideal − now, the least
    Σ (changed − ideal)² is Σ over the others of g², plus (Σ_A g)² / k, dealt evenly. So A should have the greatest
    variance of g: such a set is p sites that give most and k − p that take most, for one of k + 1 values of p.
    Trying them all is exact but where a site would be left with less than no task.
    """
    n = len(now)
    k = min(sites, n)
    copy(now, changed)
    if k < 2:
        return
    if k == n:
        copy(ideal, changed)
        return
    gap = np.empty(n)
    for x in range(n):
        gap[x] = ideal[x] - now[x]
    order = by_size(gap)
    best, taking = -1.0, 0
    for p in range(k + 1):
        total, square = 0.0, 0.0
        for place in range(k):
            x = order[place] if place < p else order[n - k + place]
            total += gap[x]
            square += gap[x] * gap[x]
        gain = square - total * total / k
        if gain > best:
            best, taking = gain, p
    surplus = 0
    for place in range(k):
        x = order[place] if place < taking else order[n - k + place]
        changed[x] = ideal[x]
        surplus += ideal[x] - now[x]
    # The chosen sites must hold in all what they held: the surplus is taken evenly, never below no task.
    while surplus != 0:
        step = 1 if surplus > 0 else -1
        before = surplus
        for place in range(k):
            x = order[place] if place < taking else order[n - k + place]
            if surplus != 0 and changed[x] - step >= 0:
                changed[x] -= step
                surplus -= step
        if surplus == before:
            break
