"""The effect of a changed node on its worker: speed, failure and return, and the cores that are kept for tasks."""

from __future__ import annotations

import numpy as np

from windlass.dispatch.state import JOINED, LEFT, RATE, TRUE_RATES
from windlass.jit import inlined
from windlass.sim.cores import give_to, take_of
from windlass.sim.workers import events
from windlass.sim.workers.state import NO_CORES, NONE


@inlined
def _keep(nodes, settings, row):
    """Hold the cores of a node that are kept for tasks, and give up those to be vacated; return the held ones."""
    part = settings.part
    if part < 0:
        return np.int64(0)
    site, idle, held = nodes.site[row], nodes.idle[row], nodes.held[row, part]
    kept = np.int64(np.ceil(settings.kept * nodes.whole[row]))
    if nodes.vacate[row] != 0 and idle < 0 and held > 0:
        give_to(nodes, row, site, part, min(-idle, held))
    elif idle > 0 and held < min(kept, nodes.capacity[row]):
        take_of(nodes, row, site, part, min(min(kept, nodes.capacity[row]) - held, idle))
    return nodes.held[row, part]


@inlined
def settle_worker(state, nodes, worker, row, now):
    """Adapt a worker to the idle cores of its node; return the event to notify schedulers of, or NONE."""
    own = _keep(nodes, state.settings[0], row)
    if nodes.capacity[row] == 0:
        return LEFT if events.fail(state, worker, NO_CORES, now) else NONE
    share = max(state.settings[0].least_share, (max(nodes.idle[row], 0) + own) / nodes.whole[row])
    if events.come_back(state, worker, NO_CORES):
        # A second call changes its speed, of which schedulers are notified too.
        state.progress[0].settled -= 1
        return JOINED
    if share == state.share[worker]:
        return NONE
    state.share[worker] = share
    events.set_speed(state, worker, state.base[worker] * share, now)
    return RATE if state.ints[0, TRUE_RATES] != 0 else NONE
