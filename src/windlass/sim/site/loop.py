"""The loop over a site's instants: what happens is taken in, the policy is asked, its answer is carried out.

The steps are functions, so that a policy in Python is asked by the same ones, from outside the loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.compiled import Kernel, inlined
from windlass.order.site.compiled import SELECT, CompiledView
from windlass.sim.events.heap import HEAP, Heap, next_time, pop, push
from windlass.sim.site.state import (
    FREE,
    HEAD,
    REFUSED,
    SITE_STATE,
    TAIL,
    SiteState,
    end_job,
    enqueue,
    leave_queue,
    running_rows,
    sort_few,
    start_job,
    waiting_rows,
)
from windlass.sim.status import ALL_DONE, FIRST_OWN, PAUSED, STUCK

#: How else :func:`_run` returned: the policy's answer names who does not wait, or needs more than is idle.
BAD_POSITION, TOO_WIDE = range(FIRST_OWN, FIRST_OWN + 2)
_END = 0


class SiteRun(NamedTuple):
    """A site and what happens to it.

    ``heap``: ends of running jobs. ``submit``, ``held`` (n,): when jobs come and for how long they hold their
    processors, s. ``submitted`` (1,): jobs that have come, which is the row of the next one.
    """

    heap: Heap
    site: SiteState
    submit: NDArray[np.float64]
    held: NDArray[np.float64]
    submitted: NDArray[np.int64]


SITE_RUN = types.NamedTuple(
    (HEAP, SITE_STATE, types.float64[::1], types.float64[::1], types.int64[::1]), SiteRun
)


@inlined
def advance(state):
    """Go to the next instant and take in all that happens then; the instant, or infinity where nothing does."""
    count = state.submitted[0]
    arrival = state.submit[count] if count < len(state.submit) else np.inf
    now = min(arrival, next_time(state.heap))
    while now < np.inf and next_time(state.heap) == now:
        _, _, row = pop(state.heap)
        end_job(state.site, row, now)
    while count < len(state.submit) and state.submit[count] == now:
        enqueue(state.site, count)
        count += 1
    state.submitted[0] = count
    return now


@inlined
def commit(state, now, chosen, why):
    """Start the chosen queue positions in their order, which sorts `chosen`; a status code.

    The state is of no more use when the status is not `PAUSED`.
    """
    site = state.site
    queue = waiting_rows(site)
    wanted = 0
    for position in chosen:
        if position < 0 or position >= len(queue):
            return BAD_POSITION
        wanted += site.procs[queue[position]]
    if wanted > site.counts[FREE]:
        return TOO_WIDE
    for pick in range(len(chosen)):
        row = queue[chosen[pick]]
        if site.start[row] == now:
            return BAD_POSITION
        site.why[row] = why[pick]
        start_job(site, row, now)
        push(state.heap, now + state.held[row], _END, row)
    sort_few(chosen)
    leave_queue(site, chosen)
    site.counts[REFUSED] = site.counts[TAIL] - site.counts[HEAD]
    return PAUSED


@inlined
def status_at_end(state):
    """Whether all jobs have run, once nothing more happens; a status code."""
    return ALL_DONE if len(waiting_rows(state.site)) == 0 else STUCK


def _run(select, state, chosen, why, instants):
    """Advance by so many instants at most, asking a compiled policy; a status code."""
    site = state.site
    for _ in range(instants):
        now = advance(state)
        if now == np.inf:
            return status_at_end(state)
        queue = waiting_rows(site)
        if len(queue) == 0:
            continue
        view = CompiledView(
            now,
            site.counts[FREE],
            site.counts[REFUSED],
            queue,
            running_rows(site),
            site.procs,
            site.request,
            site.expected_end,
            site.note,
        )
        count = select(view, chosen, why)
        status = commit(state, now, chosen[:count], why[:count])
        if status != PAUSED:
            return status
    return PAUSED


RUN = Kernel(
    _run,
    types.int64(types.FunctionType(SELECT), SITE_RUN, types.int64[::1], types.int64[::1], types.int64),
    allocates=False,
)
