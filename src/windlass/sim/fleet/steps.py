"""The further compiled steps of a fleet on a ledger, besides its loop.

They react to changed rows, process the rest of an instant, and return the next one and whether all jobs have ended.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.jit import Kernel, inlined
from windlass.sim.events.heap import next_time
from windlass.sim.fleet.cores import match_slots
from windlass.sim.fleet.lost_tasks import lose_task
from windlass.sim.fleet.state import FLEET_RUN
from windlass.sim.handle import opening
from windlass.sim.instants.calls import run_at
from windlass.sim.status import FULL, REACHED

#: More events than an instant has.
_MANY = np.int64(2**62)

_opened = opening(FLEET_RUN)


def _settle(address, now):
    """Give up rows to be vacated, and read the slots of sites with changed rows; return FULL if the log is full."""
    whole = _opened(address)
    state, nodes = whole.state, whole.nodes
    run, changed = state.run[0], False
    for at in range(nodes.counts[0].to_settle):
        row = nodes.to_settle[at]
        site = whole.fleet_site[nodes.site[row]]
        if site < 0:
            continue
        while nodes.vacate[row] != 0 and nodes.idle[row] < 0 and state.on_row[row] >= 0:
            if run.lost == len(state.lost_log):
                return FULL
            # The task that came to the row last goes first.
            lose_task(state, nodes, state.on_row[row], now)
            run.again, run.now = 1, now
        changed |= match_slots(state, nodes, site)
    if changed:
        run.again, run.now = 1, now
    return REACHED


def _decide(address, now):
    """Process the rest of an instant: links, arrivals, starts; return a status of the loop, which is called again."""
    run = _opened(address).state.run[0]
    run.deciding = 1
    status = run_at(run.loop)(address, np.nextafter(now, np.inf), _MANY)
    run.deciding = 0
    return status


@inlined
def _next_change(state):
    run = state.run[0]
    if run.due != 0 or run.again != 0:
        return run.now
    if run.ended == len(state.jobs) - 1:
        return np.inf
    change = state.changes[run.changes].time if run.changes < len(state.changes) else np.inf
    coming = min(state.jobs[run.submitted].submit, change, next_time(state.heap), run.wake)
    poll = run.looked + run.look_every if run.flows_new != 0 else run.look
    # Tasks that have read their input by a poll end later, by their compute time. Input that was moved can be placed.
    coming = min(coming, poll + run.shortest if run.moves == 0 else poll)
    if run.wanted != 0 and run.standing == 0:
        coming = min(coming, run.decided + run.decide_every)
    return max(coming, run.now)


def _horizon(address):
    """Return the next instant at which the fleet may take a core, give one back, or need a decision; or infinity."""
    return _next_change(_opened(address).state)


def _horizon_alone(address):
    """Return the next instant at which the fleet may need a decision; infinity if the loop makes all decisions."""
    state = _opened(address).state
    run = state.run[0]
    return np.inf if run.standing != 0 and run.python == 0 else _next_change(state)


def _ended(address):
    """Return whether all jobs have ended."""
    state = _opened(address).state
    return np.int64(state.run[0].ended == len(state.jobs) - 1)


SETTLE = Kernel(_settle, types.int64(types.int64, types.float64), allocates=False)
DECIDE = Kernel(_decide, types.int64(types.int64, types.float64), allocates=False)
HORIZON = Kernel(_horizon, types.float64(types.int64), allocates=False)
HORIZON_ALONE = Kernel(_horizon_alone, types.float64(types.int64), allocates=False)
ENDED = Kernel(_ended, types.int64(types.int64), allocates=False)
#: What a fleet on a ledger calls, next to the kernels of a fleet alone.
LEDGER_KERNELS = (SETTLE, DECIDE, HORIZON, HORIZON_ALONE, ENDED)
