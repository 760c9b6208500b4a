"""Links of sites, shared by concurrent flows: fluid max-min fairness.

Every flow from site x to site y passes the uplink of x, the downlink of y, and, where pairs have limits of their
own, the pair. Flows of one pair have one rate. So the state has one entry per pair: the number of flows (their
``weight``; a transfer for k tasks counts k), the rate of each, and the bytes that each has carried since the pair was
last idle.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, lean


@lean
def share_links(weight, rate, most, sites, limited):
    """Fill ``rate`` (n, n) with the max-min fair rate of each flow, bytes/s, by ``up`` and ``down`` of ``sites`` (n,).

    Progressive filling: the link that offers its unsettled flows the lowest rate settles them, and the other links
    share the rest. ``limited`` is true if ``most`` (n, n) applies. The fields ``up_left``, ``down_left``, ``up_weight``
    and ``down_weight`` of a site hold the rate left on its links and the weight not settled on them. Pairs have several
    arrays instead of one array of records, as each pass reads all of one array.
    """
    n = len(sites)
    for x in range(n):
        site = sites[x]
        site.up_left, site.down_left, site.up_weight, site.down_weight = site.up, site.down, 0.0, 0.0
    open_pairs = 0
    for x in range(n):
        for y in range(n):
            if weight[x, y] > 0.0:
                rate[x, y] = -1.0
                sites[x].up_weight += weight[x, y]
                sites[y].down_weight += weight[x, y]
                open_pairs += 1
            else:
                rate[x, y] = 0.0
    while open_pairs > 0:
        least, kind, where, other = np.inf, 0, -1, -1
        for x in range(n):
            site = sites[x]
            if site.up_weight > 0.0 and site.up_left < least * site.up_weight:
                least, kind, where = site.up_left / site.up_weight, 0, x
            if site.down_weight > 0.0 and site.down_left < least * site.down_weight:
                least, kind, where = site.down_left / site.down_weight, 1, x
        if limited:
            for x in range(n):
                for y in range(n):
                    if rate[x, y] < 0.0 and most[x, y] < least * weight[x, y]:
                        least, kind, where, other = most[x, y] / weight[x, y], 2, x, y
        least = max(least, 0.0)
        if kind == 2:
            rate[where, other] = least
            settle(weight[where, other], sites[where], sites[other], least)
            open_pairs -= 1
            continue
        for z in range(n):
            x, y = (where, z) if kind == 0 else (z, where)
            if rate[x, y] < 0.0:
                rate[x, y] = least
                settle(weight[x, y], sites[x], sites[y], least)
                open_pairs -= 1
        # Rounding must not leave weight on a link without flows.
        if kind == 0:
            sites[where].up_weight = 0.0
        else:
            sites[where].down_weight = 0.0


@lean
def settle(weight, source, sink, least):
    """Subtract settled flows of this weight from both links."""
    source.up_left = max(0.0, source.up_left - least * weight)
    sink.down_left = max(0.0, sink.down_left - least * weight)
    source.up_weight -= weight
    sink.down_weight -= weight
    if source.up_weight < 1e-9:
        source.up_weight = 0.0
    if sink.down_weight < 1e-9:
        sink.down_weight = 0.0


def _share(weight, rate, most, sites):
    share_links(weight, rate, most, sites, True)


_SITE = np.dtype(
    [(name, np.float64) for name in ("up", "down", "up_left", "down_left", "up_weight", "down_weight")]
)
_rows = types.float64[:, ::1]
_SHARE = Kernel(
    _share,
    types.void(_rows, _rows, _rows, types.Array(numba.from_dtype(_SITE), 1, "C")),
    allocates=False,
)


def max_min_rates(flows: object, up: object, down: object, pair: object = None) -> NDArray[np.float64]:
    """Return the rate of each flow under max-min fairness.

    Parameters
    ----------
    flows
        (n, n) number of flows from the row's site to the column's.
    up, down
        (n,) bytes/s.
    pair
        (n, n) highest rate of all flows of a pair together, bytes/s; None for no limit.

    Returns
    -------
    (n, n) bytes/s of one flow of each pair; 0 for pairs without flows.

    Examples
    --------
    >>> max_min_rates([[0, 1, 1], [0, 0, 1], [0, 0, 0]], up=[10, 10, 10], down=[10, 2, 10]).tolist()
    [[0.0, 2.0, 5.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0]]

    Source: Bertsekas and Gallager, *Data Networks*, section 6.5.2.
    """
    weight = np.ascontiguousarray(flows, dtype=np.float64)
    most = np.full_like(weight, np.inf) if pair is None else np.ascontiguousarray(pair, dtype=np.float64)
    rate, sites = np.empty_like(weight), np.zeros(len(weight), _SITE)
    sites["up"], sites["down"] = up, down
    _SHARE.ready()(weight, rate, most, sites)
    return rate
