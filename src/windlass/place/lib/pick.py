"""Selection of the planned tasks of a site that start now if slots are short, and storage of starts."""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import allocating, lean
from windlass.place.lib.search import fill

LOCAL, REMOTE, SHUFFLE = range(3)
REASONS = (
    "its input is here",
    "reads remotely, so it starts before local tasks",
    "its share of the shuffle",
)


class Starts(NamedTuple):
    """Space for starts: ``rows`` (k, 4): stage row, source (-1: all sites), site, tasks; ``why`` (k,): reason."""

    rows: NDArray[np.int64]
    why: NDArray[np.int64]


STARTS = types.NamedTuple((types.int64[:, ::1], types.int64[::1]), Starts)


@lean
def put(starts, count, row, source, site, tasks, reason):
    """Add a start unless it has no tasks; return the new number of starts."""
    if tasks <= 0:
        return count
    rows = starts.rows
    rows[count, 0], rows[count, 1], rows[count, 2], rows[count, 3] = row, source, site, tasks
    starts.why[count] = reason
    return count + 1


@allocating
def start_maps(starts, count, row, flow, take, up, options):
    """Start ``take[y]`` of the tasks that ``flow[:, y]`` plans for each site y; return the new number of starts.

    With the option ``remote_first``, remote tasks start first, but the fraction ``local_share`` of the
    ``take[y]`` slots stays for local ones. With ``spread``, remote tasks come from all sources in turn, starting
    at the narrowest uplink; without, source by source.
    """
    n = len(take)
    chosen = np.empty(n, np.int64)
    for y in range(n):
        if take[y] <= 0:
            continue
        local = flow[y, y]
        remote = -local
        for x in range(n):
            remote += flow[x, y]
        if options.remote_first > 0.0:
            kept = min(local, int(np.ceil(options.local_share * take[y])))
            away = min(remote, take[y] - kept)
        else:
            away = min(remote, max(take[y] - local, 0))
        count = put(starts, count, row, y, y, min(local, take[y] - away), LOCAL)
        fill(chosen, 0)
        share_out(flow, y, away, up, options.spread > 0.0, chosen)
        for x in range(n):
            count = put(starts, count, row, x, y, chosen[x], REMOTE)
    return count


@allocating
def share_out(flow, y, away, up, spread, chosen):
    """Fill ``chosen`` (n,) with the number of ``away`` remote tasks of site y that read from each source."""
    n = len(chosen)
    drained = np.zeros(n, np.bool_)
    while away > 0:
        sources, narrowest = 0, -1
        for x in range(n):
            if x != y and not drained[x] and flow[x, y] > chosen[x]:
                sources += 1
                if narrowest < 0 or up[x] < up[narrowest]:
                    narrowest = x
        if sources == 0:
            return
        if not spread or away < sources:
            # Source by source; or the last few tasks, one from each of the narrowest uplinks.
            more = 1 if spread else min(away, flow[narrowest, y] - chosen[narrowest])
            drained[narrowest] = True
            chosen[narrowest] += more
            away -= more
            continue
        each = away // sources
        for x in range(n):
            if x != y and flow[x, y] > chosen[x]:
                more = min(each, flow[x, y] - chosen[x])
                chosen[x] += more
                away -= more
