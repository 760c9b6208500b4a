"""Placement of a shuffle that takes later shuffles of the job into account."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import allocating, lean
from windlass.place.lib.search import ROUNDING, SOLVED, copy, fill, total_of
from windlass.place.lib.stage import StageLoad, by_size, solve_reduce


class Shuffle(NamedTuple):
    """A shuffle with waiting tasks.

    ``data`` (n,) is the bytes that they read at each site; ``begun`` (n,) the tasks started so far;
    ``waiting`` the number of tasks not started, each of ``task_s``; ``written`` the bytes that the whole
    stage writes, which ``after`` further stages shuffle again.
    """

    data: NDArray[np.float64]
    begun: NDArray[np.int64]
    waiting: int
    task_s: float
    written: float
    after: float


@lean
def shuffle_s(data, share, up, down):
    """Return the time that links take to carry (n,) bytes from their sites to tasks at (n,) shares, s."""
    total, longest = total_of(data), 0.0
    for x in range(len(data)):
        leaving, coming = data[x] * (1.0 - share[x]), (total - data[x]) * share[x]
        if leaving > ROUNDING * total:
            longest = max(longest, leaving / up[x] if up[x] > 0.0 else np.inf)
        if coming > ROUNDING * total:
            longest = max(longest, coming / down[x] if down[x] > 0.0 else np.inf)
    return longest


@lean
def waves_s(share, shuffle, slots):
    """Return the compute time of tasks at (n,) shares in whole waves, s."""
    waves = 1.0
    for x in range(len(share)):
        tasks = share[x] * shuffle.waiting
        if tasks > ROUNDING * shuffle.waiting:
            waves = max(waves, np.ceil(tasks / slots[x] - ROUNDING) if slots[x] > 0.0 else np.inf)
    return waves * shuffle.task_s


@lean
def chain_s(share, shuffle, sites, mixed, behind):
    """Return the time of a shuffle and of later ones, s, assuming that each later one runs where the one before wrote.

    ``mixed`` and ``behind`` (n,) are work space.
    """
    took = shuffle_s(shuffle.data, share, sites.up, sites.down) + waves_s(share, shuffle, sites.slots)
    if shuffle.after <= 0.0 or took == np.inf:
        return took
    tasks = total_of(shuffle.begun) + shuffle.waiting
    for x in range(len(share)):
        mixed[x] = (shuffle.begun[x] + share[x] * shuffle.waiting) / tasks
        behind[x] = mixed[x] * shuffle.written
    return took + shuffle.after * shuffle_s(behind, mixed, sites.up, sites.down)


@allocating
def best_share(shuffle, sites, ahead, share):
    """Fill ``share`` (n,) with the placement of a shuffle; return whether there is one.

    Candidates are the stage's own optimum and, with ``ahead``, each site alone and the 2, 4, 8 … sites with
    most slots.
    """
    n = len(share)
    tried, most, mixed, behind = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    load = StageLoad(shuffle.task_s * shuffle.waiting, np.inf, 1.0 / max(shuffle.waiting, 1))
    found = solve_reduce(shuffle.data, sites, load, share, most)
    is_there = found[2] == SOLVED
    if ahead <= 0.0 or shuffle.after <= 0.0:
        return is_there
    least = chain_s(share, shuffle, sites, mixed, behind) if is_there else np.inf
    order = by_size(sites.slots)
    group = 2
    for number in range(2 * n):
        fill(tried, 0.0)
        if number < n:
            tried[number] = 1.0
        elif group > n:
            break
        else:
            slots = 0.0
            for place in range(group):
                slots += sites.slots[order[place]]
            for place in range(group):
                tried[order[place]] = sites.slots[order[place]] / max(slots, 1e-300)
            group *= 2
        took = chain_s(tried, shuffle, sites, mixed, behind)
        if took < least:
            least, is_there = took, True
            copy(tried, share)
    return is_there


@lean
def expected_slots(sites, open_slots, back, slots):
    """Fill ``slots`` (n,) with the slots that a stage may expect: free ones, and the fraction ``back`` of held ones."""
    for x in range(len(slots)):
        busy = max(0, sites.slots[x] - open_slots[x])
        slots[x] = max(open_slots[x] + np.floor(back * busy), min(1, sites.slots[x]))


@lean
def expected_links(capacity, free, least, links):
    """Fill ``links`` (n,) with the bandwidth that a stage may expect: unused bandwidth, at least a fraction of all."""
    for x in range(len(links)):
        links[x] = max(free[x], least * capacity[x])
