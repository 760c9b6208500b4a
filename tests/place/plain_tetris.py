"""A plain version of Tetris, after its docstring: the oracle for the compiled policy."""

from __future__ import annotations

import numpy as np

from windlass.place.view import PlaceView


def fits(room: float, rate: float) -> int:
    return int(max(room, 0.0) / rate + 1e-9) if rate > 0.0 else 10**9


def tetris(
    view: PlaceView, penalty: float, srtf: float, network: bool = True, local_reads: bool = False
) -> list[tuple[int, int, int, int]]:
    """(row, source, site, tasks) of each start: site by site, the highest score first."""
    sites, ready = view.sites, view.ready
    stages, places = ready.here.shape
    free = np.maximum(sites.free, 0)
    up, down = sites.up_free.copy(), sites.down_free.copy()
    here, left = ready.here.copy(), ready.waiting.copy()
    work = ready.waiting * ready.task_s
    total = ready.data.sum(axis=1)
    rate = total / np.maximum(work, 1e-9)
    part = np.divide(ready.data, total[:, None], out=np.zeros_like(ready.data), where=total[:, None] > 0)
    found = []

    def remote_of(row: int, y: int) -> int:
        """Where a map task of y would read from: the usable site whose uplink has most left."""
        usable = [x for x in range(places) if x != y and here[row, x] > 0 and up[x] > 0.0]
        return max(usable, key=lambda x: (up[x], -x)) if usable else -1

    for y in range(places):
        if free[y] <= 0:
            continue
        slot = (1 / sites.slots[y]) * (free[y] / sites.slots[y])
        link = network * down[y] / sites.down[y] if sites.down[y] > 0 else 0.0
        options = []
        for row in range(stages):
            less = srtf * work[row] / max(work.sum() / stages, 1e-9) * slot
            if ready.shuffles[row]:
                away = 1.0 - part[row, y]
                if sites.down[y] > 0 or away <= 0:
                    counted = 1.0 if local_reads else away
                    read = counted * rate[row] / sites.down[y] if sites.down[y] > 0 else 0.0
                    score = (slot + read * link) * (1.0 - penalty * away) - less
                    options.append((-score, 2 * row, row, -1))
                continue
            if here[row, y] > 0:
                own = rate[row] / sites.down[y] * link if local_reads and sites.down[y] > 0 else 0.0
                options.append((-(slot + own - less), 2 * row, row, y))
            source = remote_of(row, y)
            if source >= 0 and sites.down[y] > 0:
                score = (slot + rate[row] / sites.down[y] * link) * (1.0 - penalty) - less
                options.append((-score, 2 * row + 1, row, source))
        for _, _, row, x in sorted(options):
            if free[y] <= 0:
                break
            if x == y:
                take = min(free[y], here[row, y])
            elif x >= 0:
                take = min(free[y], here[row, x], fits(down[y], rate[row]), fits(up[x], rate[row]))
                if take <= 0 and sites.slots[x] <= 0 and ready.running[row].sum() == 0:
                    take = min(1, here[row, x])
                up[x] -= take * rate[row]
                down[y] -= take * rate[row]
            else:
                away = (1.0 - part[row, y]) * rate[row]
                others = [fits(up[z], part[row, z] * rate[row]) for z in range(places) if z != y]
                take = min([free[y], left[row], fits(down[y], away), *others])
                if take <= 0 and sites.free[y] == sites.slots[y] and ready.running[row].sum() == 0:
                    take = min(1, left[row])
                for z in range(places):
                    up[z] -= take * part[row, z] * rate[row] if z != y else 0.0
                down[y] -= take * away
            if x >= 0:
                here[row, x] -= take
            left[row] -= take
            free[y] -= take
            if take > 0:
                found.append((row, x, y, int(take)))
    return found
