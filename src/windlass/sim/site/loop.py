"""The loop over a site's instants: what happens is taken in, the policy is asked, its answer is carried out.

The steps are functions, so that a policy in Python is asked by the same ones, from outside the loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.compiled import Kernel, inlined
from windlass.order.site.compiled import SELECT
from windlass.sim.events.heap import HEAP, Heap, next_time, pop, push
from windlass.sim.site import state as at
from windlass.sim.site.state import SITE, Site

#: How :func:`_run` ended: paused for a progress report, all done, or the policy's answer cannot be carried out.
PAUSED, DONE, STUCK, BAD_POSITION, TOO_WIDE = range(5)
_END = 0


class World(NamedTuple):
    """State of the world: events, site, what will happen (submit and held, s) and the next job to submit."""

    heap: Heap
    site: Site
    submit: NDArray[np.float64]
    held: NDArray[np.float64]
    submitted: NDArray[np.int64]


WORLD = types.NamedTuple((HEAP, SITE, types.float64[::1], types.float64[::1], types.int64[::1]), World)


@inlined
def advance(world):
    """Go to the next instant and take in all that happens then; the instant, or infinity where nothing does."""
    count = world.submitted[0]
    arrival = world.submit[count] if count < len(world.submit) else np.inf
    now = min(arrival, next_time(world.heap))
    while now < np.inf and next_time(world.heap) == now:
        _, _, row = pop(world.heap)
        at.finish(world.site, row, now)
    while count < len(world.submit) and world.submit[count] == now:
        at.enqueue(world.site, count)
        count += 1
    world.submitted[0] = count
    return now


@inlined
def commit(world, now, chosen, why):
    """Start the chosen queue positions in their order, which sorts `chosen`; a status code.

    The world is of no more use when the status is not `PAUSED`.
    """
    site = world.site
    queue = at.waiting(site)
    wanted = 0
    for position in chosen:
        if position < 0 or position >= len(queue):
            return BAD_POSITION
        wanted += site.procs[queue[position]]
    if wanted > site.counters[at.FREE]:
        return TOO_WIDE
    for pick in range(len(chosen)):
        row = queue[chosen[pick]]
        if site.start[row] == now:
            return BAD_POSITION
        site.why[row] = why[pick]
        at.start(site, row, now)
        push(world.heap, now + world.held[row], _END, row)
    at.sort(chosen)
    at.leave_queue(site, chosen)
    site.counters[at.REFUSED] = site.counters[at.TAIL] - site.counters[at.HEAD]
    return PAUSED


@inlined
def status_at_end(world):
    """Whether all jobs have run, once nothing more happens; a status code."""
    return DONE if len(at.waiting(world.site)) == 0 else STUCK


def _run(select, world, chosen, why, instants):
    """Advance by so many instants at most, asking a compiled policy; a status code."""
    site = world.site
    for _ in range(instants):
        now = advance(world)
        if now == np.inf:
            return status_at_end(world)
        queue = at.waiting(site)
        if len(queue) == 0:
            continue
        count = select(
            now,
            site.counters[at.FREE],
            queue,
            site.counters[at.REFUSED],
            site.procs,
            site.request,
            site.note,
            at.running(site),
            site.expected_end,
            chosen,
            why,
        )
        status = commit(world, now, chosen[:count], why[:count])
        if status != PAUSED:
            return status
    return PAUSED


RUN = Kernel(
    _run,
    types.int64(types.FunctionType(SELECT), WORLD, types.int64[::1], types.int64[::1], types.int64),
    allocates=False,
)
