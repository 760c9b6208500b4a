"""Who of those that wait starts now, and where.

Jobs are served in the order in which they were submitted, and one that has no room is passed over, as the scheduler of
Kubernetes does: nobody is promised anything, so a job that needs many whole instances waits until so many are empty at
once. Only instances with more room than before are looked at for those who waited before.
"""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined, lean
from windlass.sim.instances.lifecycle import come_up, launch
from windlass.sim.instances.moves import start_job
from windlass.sim.instances.packing import empty_ones, room_for
from windlass.sim.instances.state import (
    CHANGED,
    KINDS,
    N_LEAVING,
    N_STARTING,
    N_UP,
    NOBODY,
    RUNNING,
    WARM,
)
from windlass.sim.status import FULL, PAUSED


@inlined
def rows_left(run, of):
    """How many more instances of a type there may be now."""
    number = run.fleet.number
    there = number[of, N_STARTING] + number[of, N_UP] + number[of, N_LEAVING]
    return min(run.fleet.limit[of], run.fleet.first[of + 1] - run.fleet.first[of]) - there


@inlined
def _room_at_once(run, kind, now):
    """Room for a job where instances are there when they are needed."""
    queues = run.queues
    of, wanted = queues.bucket[kind], max(1, queues.gang[kind])
    if queues.gang[kind] > 0:
        wanted -= empty_ones(run, of)
    if rows_left(run, of) < wanted:
        return np.int64(NOBODY)
    for _ in range(wanted):
        come_up(run, launch(run, of, 0.0, 1, now), now)
    return room_for(run, kind)


@inlined
def _room(run, kind, now):
    row = room_for(run, kind)
    return _room_at_once(run, kind, now) if row == NOBODY and now <= run.queues.clock[WARM] else row


@inlined
def _open_kinds(run, now):
    """Kinds of which the first that waits has room; how many."""
    queues, count = run.queues, 0
    for place in range(queues.counts[KINDS]):
        if _room(run, queues.some[place], now) != NOBODY:
            queues.open[count] = queues.some[place]
            count += 1
    return count


@lean
def place_jobs(run, now):
    """Start those who wait and have room, in the order of the queue; FULL where there are too few slots."""
    queues, counts = run.queues, run.queues.counts
    if counts[KINDS] == 0:
        _forget_changes(run)
        return PAUSED
    count = _open_kinds(run, now)
    while count > 0:
        if counts[RUNNING] == len(queues.job_of):
            return FULL
        first = 0
        for place in range(1, count):
            ahead = queues.sequence[queues.head[queues.open[place]]]
            if ahead < queues.sequence[queues.head[queues.open[first]]]:
                first = place
        kind = queues.open[first]
        row = _room(run, kind, now)
        if row != NOBODY:
            start_job(run, kind, row, now)
        if row == NOBODY or queues.head[kind] == NOBODY:
            count -= 1
            queues.open[first] = queues.open[count]
    for place in range(counts[KINDS]):
        queues.fresh[queues.some[place]] = 0
    _forget_changes(run)
    return PAUSED


@inlined
def _forget_changes(run):
    counts, fleet = run.queues.counts, run.fleet
    for place in range(counts[CHANGED]):
        fleet.marked[fleet.changed[place]] = 0
    counts[CHANGED] = 0
