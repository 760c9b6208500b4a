"""Input to move ahead, so that the shuffle behind a map stage is fastest."""

import numpy as np
from numba import types

from windlass.jit import Kernel
from windlass.place.lib.reverse import shuffle_least
from windlass.place.lib.search import parts, total_of
from windlass.place.lib.whole import move_least, whole
from windlass.place.view import READY, SITES


def _prefer(sites, ready, fresh, rows):
    m, n = ready.here.shape
    wanted, counts, flow = np.empty(n), np.empty(n, np.int64), np.empty((n, n), np.int64)
    count = 0
    for row in range(m):
        total = total_of(ready.data[row])
        if fresh[row] == 0 or ready.next_work[row] <= 0.0 or total * ready.ratio[row] <= 0.0:
            continue
        written = total * ready.ratio[row]
        slots = parts(sites.slots, 1.0)
        share = parts(slots, total_of(slots))
        if (
            shuffle_least(
                share,
                parts(sites.up, written),
                parts(sites.down, written),
                parts(ready.data[row], total),
                wanted,
            )
            == np.inf
        ):
            continue
        whole(wanted, ready.waiting[row], counts)
        move_least(ready.here[row], counts, sites.up, flow)
        for x in range(n):
            for y in range(n):
                if x != y and flow[x, y] > 0 and sites.up[x] > 0.0 and sites.down[y] > 0.0:
                    rows[count, 0], rows[count, 1], rows[count, 2], rows[count, 3] = row, x, y, flow[x, y]
                    count += 1
    return count


PREFER = Kernel(_prefer, types.int64(SITES, READY, types.int64[::1], types.int64[:, ::1]))
