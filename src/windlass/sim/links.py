"""Links of sites, shared by concurrent flows: fluid max-min fairness.

Every flow from site x to site y passes the uplink of x, the downlink of y, and, where pairs have limits of their
own, the pair. Flows of one pair have one rate, so what is kept is a number per pair: how many flows (their
``weight``; a transfer for k tasks counts k), the rate of each, and how far each has come in bytes since the pair
was last idle.
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

    The link on which the flows not settled yet would get least settles them; what they leave is for the others
    (progressive filling). ``limited`` says whether ``most`` (n, n) is to be looked at; what the links of a site have
    left, and the weight not settled on them, is kept in ``up_left``, ``down_left``, ``up_weight``, ``down_weight``.
    Arrays over pairs are apart, and not one of records: all of them are gone through again and again.
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
        # Rounding must not leave a link with weight and nobody on it.
        if kind == 0:
            sites[where].up_weight = 0.0
        else:
            sites[where].down_weight = 0.0


@lean
def settle(weight, source, sink, least):
    """Take what flows of this weight carry, at a rate that is settled, from both links."""
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
    most = np.full_like(weight, np.inf) if pair is None else np.ascontiguousarray(pair, dtype=np.float64)
    rate, sites = np.empty_like(weight), np.zeros(len(weight), _SITE)
    sites["up"], sites["down"] = up, down
    _SHARE.ready()(weight, rate, most, sites)
    return rate
