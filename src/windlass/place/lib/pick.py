"""Which of a site's planned tasks start now, where not all find a slot, and how starts are written down."""

import numpy as np

from windlass.compiled import allocating, lean
from windlass.place.lib.search import fill

#: Columns of a start: row of the ready stages, source (-1: all sites), site, tasks.
ROW, SOURCE, SITE, TASKS = range(4)
LOCAL, REMOTE, SHUFFLE = range(3)
REASONS = (
    "its input is here",
    "reads remotely, so it starts ahead of local tasks",
    "its share of the shuffle",
)


@lean
def put(rows, why, count, row, source, site, tasks, reason):
    """Add a start, unless it is of no task; the new count."""
    if tasks <= 0:
        return count
    rows[count, 0], rows[count, 1], rows[count, 2], rows[count, 3] = row, source, site, tasks
    why[count] = reason
    return count + 1


@allocating
def start_maps(rows, why, count, row, flow, take, up, local_share, remote_first, spread):
    """Start ``take[y]`` of the tasks that ``flow[:, y]`` plans for each site y; the new count.

    Remote tasks first, but ``local_share`` of the slots taken stay for local ones; remote ones one source after
    the other in turn (``spread``), from the narrowest uplink, or source by source.
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
        if remote_first:
            kept = min(local, int(np.ceil(local_share * take[y])))
            away = min(remote, take[y] - kept)
        else:
            away = min(remote, max(take[y] - local, 0))
        count = put(rows, why, count, row, y, y, min(local, take[y] - away), LOCAL)
        fill(chosen, 0)
        share_out(flow, y, away, up, spread, chosen)
        for x in range(n):
            count = put(rows, why, count, row, x, y, chosen[x], REMOTE)
    return count


@allocating
def share_out(flow, y, away, up, spread, chosen):
    """Fill ``chosen`` (n,) with how many of ``away`` remote tasks of site y read from each source."""
    n = len(chosen)
    taken = np.zeros(n, np.bool_)
    while away > 0:
        sources, narrowest = 0, -1
        for x in range(n):
            if x != y and not taken[x] and flow[x, y] > chosen[x]:
                sources += 1
                if narrowest < 0 or up[x] < up[narrowest]:
                    narrowest = x
        if sources == 0:
            return
        if not spread or away < sources:
            # Source by source; or the last few, one from each of the narrowest uplinks.
            more = 1 if spread else min(away, flow[narrowest, y] - chosen[narrowest])
            taken[narrowest] = True
            chosen[narrowest] += more
            away -= more
            continue
        each = away // sources
        for x in range(n):
            if x != y and flow[x, y] > chosen[x]:
                more = min(each, flow[x, y] - chosen[x])
                chosen[x] += more
                away -= more
