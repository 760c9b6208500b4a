"""Changes of a plan at a few sites only, when resources drop."""

import numpy as np

from windlass.jit import allocating
from windlass.place.lib.search import copy
from windlass.place.lib.stage import by_size


@allocating
def change_few(now, ideal, sites, changed):
    """Fill ``changed`` (n,) with the plan nearest to ``ideal`` that differs from ``now`` at ``sites`` sites at most.

    The tasks of a chosen set A of k sites can be redistributed. With g = ideal − now, the least Σ (changed −
    ideal)² is the sum of g² over the other sites plus (Σ_A g)² / k, spread evenly. So A should have the
    greatest variance of g: it consists of the p sites with the largest g and the k − p with the smallest, for
    one of k + 1 values of p. Trying all values is exact unless a site would be left with less than 0 tasks.
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
    # The chosen sites must keep their total: the surplus is removed evenly, never below 0 tasks.
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
