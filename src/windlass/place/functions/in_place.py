"""Placement of tasks at their data, compiled for policies and for the simulator."""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, lean
from windlass.place.lib.search import total_of
from windlass.place.lib.whole import round_shares
from windlass.place.view import Ready, Sites


@lean
def shuffle_in_place(data, slots, tasks, started, waiting, close, want):
    """Fill ``want`` (n,) with the tasks of a shuffle that each site still runs, in proportion to its data.

    ``data`` (n,) is the bytes that the shuffle reads at each site, of which only proportions count, and
    ``slots`` (n,) the slots of each site as float64; a site without slots gets no task. Both are overwritten.
    ``tasks`` is the number of tasks of the stage, ``started`` (n,) those started at each site, ``waiting``
    those not started. Remainders that differ by less than ``close`` count as equal.
    """
    total = total_of(data)
    for x in range(len(data)):
        data[x] = data[x] / total if total > 0.0 and slots[x] > 0.0 else 0.0
    if total_of(data) <= 0.0:
        for x in range(len(data)):
            data[x] = slots[x]
    # Shares of the whole stage, so that tasks that have started do not shift the rest.
    round_shares(data, tasks, slots, close, want)
    less_begun(started, waiting, want)


@lean
def less_begun(started, waiting, want):
    """Subtract started tasks from the wanted tasks of a whole stage."""
    for x in range(len(want)):
        want[x] = max(0, want[x] - started[x])
    # After a change of resources, more tasks may have started at a site than are wanted there now.
    over = total_of(want) - waiting
    while over > 0:
        widest = 0
        for x in range(len(want)):
            if want[x] > want[widest]:
                widest = x
        want[widest] -= 1
        over -= 1


#: The view scales data to the waiting tasks; equal shares must stay equal, or tasks would change sites.
CLOSE = 1e-9

_ints, _floats = types.int64[::1], types.float64[::1]
_SHUFFLE = Kernel(
    shuffle_in_place.py_func,
    types.void(_floats, _floats, types.int64, _ints, types.int64, types.float64, _ints),
    allocates=False,
)


def wanted_in_place(sites: Sites, ready: Ready) -> NDArray[np.int64]:
    """Return (m, n) the tasks that each stage still runs at each site: maps at their input, shuffles at their data.

    Examples
    --------
    >>> sites = Sites.of(slots=[1, 1], up=[1e9] * 2, down=[1e9] * 2)
    >>> ready = Ready.of([0, 1], 1.0, [[2, 1], [0, 0]], data=[[0, 0], [1e9, 3e9]], waiting=[0, 4])
    >>> wanted_in_place(sites, ready).tolist()
    [[2, 1], [1, 3]]
    """
    want = ready.here.copy()
    for row in np.flatnonzero(ready.shuffles).tolist():
        slots = sites.slots.astype(np.float64)
        total, waiting = int(ready.total[row]), int(ready.waiting[row])
        data, started = ready.data[row].copy(), ready.started[row]
        _SHUFFLE.ready()(data, slots, total, started, waiting, CLOSE, want[row])
    return want
