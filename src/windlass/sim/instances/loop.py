"""The loop over instants: jobs end, instances come and go, jobs arrive and are placed, and a decision is due.

What of it starts jobs is in :mod:`~windlass.sim.instances.placing`.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.jit import Kernel, inlined
from windlass.sim.events.tree import next_of_any, next_worker
from windlass.sim.handle import opening, storing
from windlass.sim.instances.lifecycle import alter, expire, launch, trim
from windlass.sim.instances.moves import empty_since, end_job, enqueue, mark
from windlass.sim.instances.packing import is_empty
from windlass.sim.instances.placing import place_jobs, rows_left
from windlass.sim.instances.polling import look_for_newcomers, looked
from windlass.sim.instances.state import (
    ASKING,
    ATTEMPTS,
    CHANGED,
    CROWDED,
    CUT,
    DUE,
    ENDED,
    EXPIRED,
    KINDS,
    LAUNCHES,
    LOOK,
    N_STARTING,
    N_UP,
    NEXT,
    NOBODY,
    NOW,
    OPEN,
    PIECES,
    RUN_STATE,
    SITE,
    SUBMITTED,
    UP,
    VACATED,
)
from windlass.sim.status import ASK, FULL, PAUSED, REACHED

opened = opening(RUN_STATE)
STORE = storing(RUN_STATE)


@inlined
def next_instant(run):
    """When something happens next, s; infinity where nothing does, or all jobs have ended."""
    queues, counts = run.queues, run.queues.counts
    if counts[ENDED] == len(queues.submit):
        return np.inf
    arrival = queues.submit[counts[SUBMITTED]] if counts[SUBMITTED] < len(queues.submit) else np.inf
    of_jobs = min(arrival, next_of_any(run.ends), queues.clock[DUE], queues.clock[LOOK])
    return min(of_jobs, next_of_any(run.turns), run.fleet.cut_time[counts[CUT]], queues.clock[OPEN])


@inlined
def _has_lines(run):
    """Whether the logs have room for all that can happen at one instant before it is looked at again."""
    counts, log = run.queues.counts, run.log
    attempts = counts[ATTEMPTS] + counts[PIECES] <= len(log.job)
    return attempts and counts[LAUNCHES] + len(run.fleet.stage) <= len(log.kind)


@inlined
def _take_ends(run, now):
    while next_of_any(run.ends) == now:
        end_job(run, next_worker(run.ends), now)


@inlined
def _arrive(run, now):
    queues, counts = run.queues, run.queues.counts
    while counts[SUBMITTED] < len(queues.submit) and queues.submit[counts[SUBMITTED]] <= now:
        enqueue(run, counts[SUBMITTED])
        queues.alive[queues.job_kind[counts[SUBMITTED]]] += 1
        counts[SUBMITTED] += 1


@inlined
def _decide_at(run, now):
    """Take in who comes, start who has room, and see whether a decision is due; PAUSED, or how to return."""
    counts, clock = run.queues.counts, run.queues.clock
    clock[NOW], clock[OPEN] = now, now
    _arrive(run, now)
    if place_jobs(run, now) == FULL:
        counts[CROWDED] = 1
        return FULL
    look_for_newcomers(run, now)
    expire(run, now)
    clock[OPEN] = np.inf
    if min(clock[DUE], clock[LOOK]) <= now and counts[ENDED] < len(run.queues.submit):
        counts[ASKING] = 1
        return ASK
    return PAUSED


def _run(address, until, steps):
    """Go through instants before `until`, so many at most, and take in what ends at `until`; a status code."""
    run = opened(address)
    clock = run.queues.clock
    if run.queues.counts[CROWDED] != 0:
        run.queues.counts[CROWDED] = 0
        status = _decide_at(run, clock[NOW])
        if status != PAUSED:
            return status
    for _ in range(steps):
        now = next_instant(run)
        if not _has_lines(run):
            return FULL
        if now >= until:
            if until < np.inf:
                _take_ends(run, until)
            clock[NEXT] = next_instant(run)
            return REACHED
        run.queues.counts[VACATED] = 0
        _take_ends(run, now)
        alter(run, now)
        status = _decide_at(run, now)
        if status != PAUSED:
            clock[NEXT] = now
            return status
    return PAUSED


def _alter(address, now):
    """Instances come and go at an instant."""
    run = opened(address)
    if not _has_lines(run):
        return FULL
    counts, clock = run.queues.counts, run.queues.clock
    counts[VACATED] = 0
    if next_of_any(run.turns) <= now or run.fleet.cut_time[counts[CUT]] <= now:
        alter(run, now)
        clock[OPEN] = now
    return REACHED


def _settle(address, now):
    """Others gave cores back: there may be room."""
    run = opened(address)
    nodes, counts, fleet = run.nodes, run.queues.counts, run.fleet
    for at in nodes.taken[: nodes.counts[0].taken]:
        row = at - nodes.first[counts[SITE]]
        if nodes.site[at] != counts[SITE] or fleet.stage[row] != UP:
            continue
        if nodes.idle[at] > 0:
            run.queues.clock[OPEN] = now
            mark(run, row)
        # Of one that became empty at this instant by itself the time runs already.
        if is_empty(run, row) and fleet.since[row] != now:
            empty_since(run, row, now)
    run.queues.clock[NEXT] = next_instant(run)
    return REACHED


def _decide(address, now):
    """Take in what happens at an instant, where anything does; ASK where a decision is due."""
    run = opened(address)
    counts, clock = run.queues.counts, run.queues.clock
    queues, status = run.queues, REACHED
    counts[VACATED] = 0
    comes = counts[SUBMITTED] < len(queues.submit) and queues.submit[counts[SUBMITTED]] <= now
    if (
        comes
        or min(clock[DUE], clock[LOOK], clock[OPEN]) <= now
        or counts[CHANGED] > 0
        or counts[EXPIRED] > 0
    ):
        status = _decide_at(run, now)
    clock[NEXT] = next_instant(run)
    return REACHED if status == PAUSED else status


def _waiting(address, rows):
    """Rows of those who wait, kind by kind; how many."""
    queues, count = opened(address).queues, 0
    for place in range(queues.counts[KINDS]):
        job = queues.head[queues.some[place]]
        while job != NOBODY:
            rows[count] = job
            count += 1
            job = queues.after[job]
    return count


def _act(address, delays, boots, due):
    """Launch what is missing, with these delays, and take away what is idle for too long; how many were launched."""
    run = opened(address)
    fleet, queues, made, now = run.fleet, run.queues, 0, run.queues.clock[NOW]
    queues.counts[VACATED] = 0
    for of in range(len(fleet.top)):
        while (
            fleet.number[of, N_STARTING] + fleet.number[of, N_UP] < fleet.wanted[of]
            and rows_left(run, of) > 0
            and made < len(delays)
        ):
            launch(run, of, delays[made], boots[made], now)
            made += 1
        trim(run, of, now)
    queues.counts[ASKING], queues.clock[DUE] = 0, due
    looked(run)
    queues.clock[NEXT] = next_instant(run)
    return made


_AT = types.int64(types.int64, types.float64)
RUN = Kernel(_run, types.int64(types.int64, types.float64, types.int64), allocates=False)
ALTER = Kernel(_alter, _AT, allocates=False)
SETTLE = Kernel(_settle, _AT, allocates=False)
DECIDE = Kernel(_decide, _AT, allocates=False)
WAITING_ROWS = Kernel(_waiting, types.int64(types.int64, types.int64[::1]), allocates=False)
ACT = Kernel(
    _act, types.int64(types.int64, types.float64[::1], types.uint8[::1], types.float64), allocates=False
)
KERNELS = (STORE, RUN, ALTER, SETTLE, DECIDE, WAITING_ROWS, ACT)
