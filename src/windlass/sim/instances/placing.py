"""The placement of waiting jobs.

Jobs are served in the order of submission. A job without room is skipped, as in the scheduler of Kubernetes. There are
no reservations, so a gang waits until enough instances are empty at once. For jobs that waited before, only instances
with more room than at the last placement are searched.
"""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined, lean
from windlass.sim.instances.lifecycle import come_up, launch
from windlass.sim.instances.moves import start_job
from windlass.sim.instances.packing import count_empty, room_for
from windlass.sim.instances.state import NONE, opened
from windlass.sim.status import FULL, PAUSED


@inlined
def rows_left(run, of):
    """Return the number of instances of a type that may still be launched."""
    fleet = run.fleet
    present = fleet.starting[of] + fleet.up[of] + fleet.leaving[of]
    return min(fleet.limit[of], fleet.first[of + 1] - fleet.first[of]) - present


@inlined
def _room_at_once(run, kind, now):
    """Launch the instances that a job needs, up at once; return its row, or NONE."""
    queues = run.queues
    of, wanted = queues.bucket[kind], max(1, queues.gang[kind])
    if queues.gang[kind] > 0:
        wanted -= count_empty(run, of)
    if rows_left(run, of) < wanted:
        return np.int64(NONE)
    for _ in range(wanted):
        come_up(run, launch(run, of, 0.0, 1, now), now)
    return room_for(run, kind)


@inlined
def _is_warm(run, now):
    return now <= run.queues.clock[0].warm_until


@inlined
def _room(run, kind, now):
    row = room_for(run, kind)
    return _room_at_once(run, kind, now) if row == NONE and _is_warm(run, now) else row


@inlined
def _open_kinds(run, now):
    """List the kinds of which the first waiting job has room or an instance may be launched; return their number.

    The launch itself waits for the job's turn: before it, earlier jobs may need the instance or leave room elsewhere.
    """
    queues, count = run.queues, 0
    for place in range(queues.counts[0].waiting_kinds):
        if _is_warm(run, now) or room_for(run, queues.waiting_kinds[place]) != NONE:
            queues.open_kinds[count] = queues.waiting_kinds[place]
            count += 1
    return count


@lean
def place_jobs(address, now):
    """Start the waiting jobs that have room, in the order of the queue; return FULL if there are too few slots."""
    run = opened(address)
    queues, counts = run.queues, run.queues.counts[0]
    if counts.waiting_kinds == 0:
        _forget_changes(run)
        return PAUSED
    count = _open_kinds(run, now)
    while count > 0:
        if counts.running == len(queues.job_of):
            return FULL
        first = 0
        for place in range(1, count):
            ahead = queues.sequence[queues.head[queues.open_kinds[place]]]
            if ahead < queues.sequence[queues.head[queues.open_kinds[first]]]:
                first = place
        kind = queues.open_kinds[first]
        row = _room(run, kind, now)
        if row != NONE:
            start_job(run, kind, row, now)
        if row == NONE or queues.head[kind] == NONE:
            count -= 1
            queues.open_kinds[first] = queues.open_kinds[count]
    for place in range(counts.waiting_kinds):
        queues.fresh[queues.waiting_kinds[place]] = 0
    _forget_changes(run)
    return PAUSED


@inlined
def _forget_changes(run):
    counts, fleet = run.queues.counts[0], run.fleet
    for place in range(counts.changed):
        fleet.marked[fleet.changed[place]] = 0
    counts.changed = 0
