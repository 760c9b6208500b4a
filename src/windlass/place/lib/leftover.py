"""Maps that would wait at their input, started on otherwise idle slots over idle links."""

import numpy as np

from windlass.jit import helper, lean
from windlass.place.lib.delay import start_spread
from windlass.place.lib.search import total_of


@lean
def carried(tasks, size, most):
    """Return the largest number of these tasks that read at most ``most`` bytes in total."""
    return tasks if tasks * size <= most else int(max(most, 0.0) / size)


@helper
def start_rest(sites, ready, order, patience, open_slots, starts, count):
    """Start map tasks that are still waiting, if reading their input is short; return the new number of starts.

    As many tasks of a stage leave and enter each site as its idle link carries in ``patience`` times the
    compute time of a task; a running task ends after half of its time on average. Stages are served in
    ``order`` (m,).
    """
    m, n = ready.here.shape
    waits, away, room = ready.here.copy(), np.empty(n, np.int64), np.empty(n, np.int64)
    up, down = sites.up_free.copy(), sites.down_free.copy()
    for start in range(count):
        row, source, tasks = starts.rows[start, 0], starts.rows[start, 1], starts.rows[start, 3]
        if source >= 0:
            waits[row, source] -= tasks
    for place in range(m):
        row = order[place]
        if ready.shuffles[row] or patience <= 0.0 or total_of(open_slots) == 0:
            continue
        within = max(patience * ready.task_s[row], 1e-9)
        size = total_of(ready.data[row]) / max(total_of(ready.here[row]), 1)
        for x in range(n):
            leaves = open_slots[x] <= 0 and sites.up[x] > 0.0
            away[x] = carried(max(waits[row, x], 0) if leaves else 0, size, up[x] * within)
            room[x] = carried(open_slots[x], size, down[x] * within)
        tasks = min(total_of(away), total_of(room))
        if tasks <= 0:
            continue
        first = count
        count = start_spread(sites, ready, row, tasks, away, room, starts, count)
        for start in range(first, count):
            source, y, went = starts.rows[start, 1], starts.rows[start, 2], starts.rows[start, 3]
            open_slots[y] -= went
            up[source] -= went * size / within
            down[y] -= went * size / within
    return count
