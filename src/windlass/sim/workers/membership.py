"""Tasks that no worker has taken, after the policy's present workers have changed without a failure or a return."""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.dispatch.state import is_present
from windlass.jit import Kernel, inlined
from windlass.jit.schema import numba_type
from windlass.sim.handle import opening
from windlass.sim.status import FULL, REACHED
from windlass.sim.workers import central, log, low_priority
from windlass.sim.workers.state import NONE, WorkersRun

_opened = opening(numba_type(WorkersRun))


@inlined
def _withdraw(state, worker, now):
    """Hold a worker's waiting reservations for dispatch, in their order; the running task stays."""
    line = state.line[worker]
    node = np.int64(line.head)
    while node != NONE:
        following = np.int64(state.after[node])
        low_priority.hold(state, node)
        state.length[worker] -= 1
        node = following
    line.head = NONE
    log.note_length(state, worker, now)


def _send_waiting(address, now):
    """Send what no worker has taken to the present workers; return a status, and expect another call until REACHED."""
    run = _opened(address)
    state = run.state
    settings, delayed = state.settings[0], state.settings[0].probe_delay > 0.0
    state.progress[0].now = now
    if settings.central != 0:
        if delayed and log.is_full(state):
            return FULL
        central.offer_again(run.choose, run.bind, state, now)
    elif settings.late_binding != 0:
        for worker in range(len(state.line)):
            if state.line[worker].head == NONE or is_present(state.ints[0], worker):
                continue
            if delayed and log.is_full(state):
                return FULL
            _withdraw(state, worker, now)
    return REACHED


#: Offer waiting tasks again, or hold reservations at workers that are not present for dispatch.
SEND_WAITING = Kernel(_send_waiting, types.int64(types.int64, types.float64), allocates=False)
