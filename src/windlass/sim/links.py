"""Links of sites, shared by concurrent flows: fluid max-min fairness.

Every flow from site x to site y passes the uplink of x, the downlink of y, and, where pairs have limits of their
own, the pair. Flows of one pair have one rate, so what is kept is a number per pair: how many flows (their
``weight``; a transfer for k tasks counts k), the rate of each, and how far each has come in bytes since the pair
was last idle.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.compiled import Kernel, lean


@lean
def share_links(weight, up, down, pair, limited, rate, level):
    """Fill ``rate`` (n, n) with the max-min fair rate of each flow, bytes/s.

    The link on which the flows not settled yet would get least settles them; what they leave is for the others
    (progressive filling). ``limited`` says whether ``pair`` (n, n) is to be looked at; ``level`` (4, n) is room to
    work in: what the uplinks and downlinks have left, and the weight not settled on them.
    """
    n = len(up)
    for x in range(n):
        level[0, x], level[1, x], level[2, x], level[3, x] = up[x], down[x], 0.0, 0.0
    open_pairs = 0
    for x in range(n):
        for y in range(n):
            if weight[x, y] > 0.0:
                rate[x, y] = -1.0
                level[2, x] += weight[x, y]
                level[3, y] += weight[x, y]
                open_pairs += 1
            else:
                rate[x, y] = 0.0
    while open_pairs > 0:
        least, kind, where, other = np.inf, 0, -1, -1
        for x in range(n):
            if level[2, x] > 0.0 and level[0, x] < least * level[2, x]:
                least, kind, where = level[0, x] / level[2, x], 0, x
            if level[3, x] > 0.0 and level[1, x] < least * level[3, x]:
                least, kind, where = level[1, x] / level[3, x], 1, x
        if limited:
            for x in range(n):
                for y in range(n):
                    if rate[x, y] < 0.0 and pair[x, y] < least * weight[x, y]:
                        least, kind, where, other = pair[x, y] / weight[x, y], 2, x, y
        least = max(least, 0.0)
        if kind == 2:
            settle(weight, rate, level, where, other, least)
            open_pairs -= 1
            continue
        for z in range(n):
            x, y = (where, z) if kind == 0 else (z, where)
            if rate[x, y] < 0.0:
                settle(weight, rate, level, x, y, least)
                open_pairs -= 1
        # Rounding must not leave a link with weight and nobody on it.
        level[2 + kind, where] = 0.0


@lean
def settle(weight, rate, level, x, y, least):
    """Fix the rate of a pair's flows, and take it from both links."""
    rate[x, y] = least
    level[0, x] = max(0.0, level[0, x] - least * weight[x, y])
    level[1, y] = max(0.0, level[1, y] - least * weight[x, y])
    level[2, x] -= weight[x, y]
    level[3, y] -= weight[x, y]
    if level[2, x] < 1e-9:
        level[2, x] = 0.0
    if level[3, y] < 1e-9:
        level[3, y] = 0.0


def _share(weight, up, down, pair, rate):
    share_links(weight, up, down, pair, True, rate, np.empty((4, len(up))))


_rows = types.float64[:, ::1]
_SHARE = Kernel(_share, types.void(_rows, types.float64[::1], types.float64[::1], _rows, _rows))


def max_min_rates(flows: object, up: object, down: object, pair: object = None) -> NDArray[np.float64]:
    """The rate of each flow under max-min fairness.

    Parameters
    ----------
    flows
        (n, n) how many flows go from the row's site to the column's.
    up, down
        (n,) bytes/s.
    pair
        (n, n) bytes/s that all flows of a pair have together at most; None for no such limit.

    Returns
    -------
    (n, n) bytes/s of one flow of each pair; 0 where there is none.

    Examples
    --------
    >>> max_min_rates([[0, 1, 1], [0, 0, 1], [0, 0, 0]], up=[10, 10, 10], down=[10, 2, 10]).tolist()
    [[0.0, 2.0, 5.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0]]

    Source: Bertsekas and Gallager, *Data Networks*, section 6.5.2.
    """
    weight = np.ascontiguousarray(flows, dtype=np.float64)
    limits = np.full_like(weight, np.inf) if pair is None else np.ascontiguousarray(pair, dtype=np.float64)
    rate = np.empty_like(weight)
    _SHARE.ready()(weight, np.asarray(up, np.float64), np.asarray(down, np.float64), limits, rate)
    return rate
