"""The loop of the world of jobs over many sites.

At each instant all that happens is taken in first: ends of tasks in the order in which they were started, then
arrivals. If a job arrived or departed, the policy is asked once for a new order; then idle slots are served.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.compiled import Kernel, inlined
from windlass.order.fleet.compiled import REFINE, SELECT
from windlass.sim.events.heap import next_time, pop
from windlass.sim.orders import state as at
from windlass.sim.orders.state import WORLD

#: How :func:`_run` returned: paused for a report, all done, no event left, no room for who arrives next, Python is
#: to decide, the order is no permutation.
PAUSED, DONE, STUCK, FULL, ASK, BAD = range(6)


@inlined
def _arrivals(world, now):
    """How many jobs arrive at this instant."""
    job = world.count[at.SUBMITTED]
    while job < len(world.submit) and world.submit[job] == now:
        job += 1
    return job - world.count[at.SUBMITTED]


@inlined
def _is_order(world):
    rows = world.count[at.ROWS]
    good = world.count[at.ORDERS] == 1 or world.count[at.ORDERS] == len(world.slots)
    if good:
        for row in range(rows):
            world.seen[row] = 0
        for number in range(world.count[at.ORDERS]):
            for place in range(rows):
                row = world.order[number, place]
                if row < 0 or row >= rows or world.seen[row] != number:
                    good = False
                    break
                world.seen[row] = number + 1
    return good


@inlined
def _serve_all(world, now):
    for site in range(len(world.slots)):
        world.position[site] = 0
        at.serve(world, site, now)


def _run(select, refine, options, backlog, nothing, world, events):
    """Advance by so many events at most; how it returned."""
    count = world.count
    if count[at.ANSWERED] != 0:
        count[at.ANSWERED] = 0
        _serve_all(world, world.clock[at.NOW])
    while events > 0:
        job = count[at.SUBMITTED]
        arrival = world.submit[job] if job < len(world.submit) else np.inf
        end = next_time(world.heap)
        now = min(arrival, end)
        if now == np.inf:
            return DONE if count[at.DONE] == len(world.submit) else STUCK
        coming = _arrivals(world, now)
        if count[at.ROWS] + coming > len(world.row_job):
            return FULL
        world.clock[at.NOW] = now
        changed = coming > 0
        ended = 0
        while next_time(world.heap) == now:
            _, site, task = pop(world.heap)
            changed = at.finish(world, task, site, now) or changed
            ended += 1
        events -= coming + ended
        if not changed:
            if ended == 1:
                at.serve(world, site, now)
            else:
                for touched in range(len(world.slots)):
                    at.serve(world, touched, now)
            continue
        while count[at.SUBMITTED] < len(world.submit) and world.submit[count[at.SUBMITTED]] == now:
            at.enter(world, count[at.SUBMITTED])
            count[at.SUBMITTED] += 1
        at.close_ranks(world)
        rows = count[at.ROWS]
        if rows == 0:
            continue
        at.size_up(world)
        count[at.DECISIONS] += 1
        count[at.JOBS_TOLD] += rows
        count[at.SUBJOBS_TOLD] += count[at.SUBJOBS]
        for site in range(len(world.slots)):
            backlog[site] = world.slots[site] - world.free[site]
        if count[at.PYTHON] != 0:
            return ASK
        told = world.sized[:rows]
        orders = select(told, world.slots, backlog, options, world.order)
        count[at.ORDERS] = refine(told, world.slots, nothing, orders, world.order)
        if not _is_order(world):
            return BAD
        _serve_all(world, now)
    return PAUSED


_floats = types.float64[::1]
RUN = Kernel(
    _run,
    types.int64(
        types.FunctionType(SELECT), types.FunctionType(REFINE), _floats, _floats, _floats, WORLD, types.int64
    ),
    allocates=False,
)
