"""Instances are launched, are up, and go."""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined, lean
from windlass.sim.cores import set_idle
from windlass.sim.events.tree import next_of_any, next_worker, schedule_any
from windlass.sim.instances.moves import lose_jobs, mark
from windlass.sim.instances.packing import is_empty, ledger_row
from windlass.sim.instances.polling import look_soon
from windlass.sim.instances.state import (
    AWAY,
    CUT,
    EXPIRED,
    FAILED,
    GONE,
    IDLE,
    INTERRUPTED,
    KEEP,
    LAUNCHED,
    LAUNCHES,
    LEAVING,
    N_LEAVING,
    N_STARTING,
    N_UP,
    N_USED,
    NOBODY,
    NOTICE,
    READY,
    SITE,
    STARTING,
    UP,
    VACATED,
)


@inlined
def _set_cores(run, row, cores, vacate):
    """Change how many cores a row of the ledger has."""
    nodes, at = run.nodes, ledger_row(run, row)
    idle = nodes.idle[at] + cores - nodes.capacity[at]
    nodes.vacate[at] = vacate
    nodes.capacity[at] = cores
    if idle != nodes.idle[at]:
        set_idle(nodes, at, run.queues.counts[SITE], idle)


@inlined
def launch(run, of, delay, boots, now):
    """Launch an instance of a type, for which there must be a row: which."""
    fleet, log, counts = run.fleet, run.log, run.queues.counts
    row = fleet.first[of]
    while fleet.stage[row] != AWAY:
        row += 1
    fleet.top[of] = max(fleet.top[of], row + 1)
    line = counts[LAUNCHES]
    counts[LAUNCHES] += 1
    log.kind[line], log.why[line], log.busy[line] = of, NOBODY, 0.0
    log.times[line, LAUNCHED], log.times[line, READY], log.times[line, GONE] = now, np.nan, np.nan
    fleet.stage[row], fleet.line[row], fleet.boots[row] = STARTING, line, boots
    fleet.number[of, N_STARTING] += 1
    schedule_any(run.turns, row, now + delay)
    return row


@inlined
def come_up(run, row, now):
    """An instance is ready."""
    fleet, of = run.fleet, run.fleet.kind[row]
    fleet.number[of, N_STARTING] -= 1
    fleet.number[of, N_UP] += 1
    fleet.stage[row], fleet.jobs[row], fleet.owner[row], fleet.since[row] = UP, 0, NOBODY, now
    for resource in range(3):
        fleet.used[row, resource] = 0
    run.log.times[fleet.line[row], READY] = now
    _set_cores(run, row, fleet.cores[of], 0)
    schedule_any(run.turns, row, now + run.queues.clock[KEEP])
    mark(run, row)


@inlined
def _leave(run, row, why, now):
    """An instance, of which no job of this part is left, is gone."""
    fleet, of, before = run.fleet, run.fleet.kind[row], run.fleet.stage[row]
    if before == STARTING:
        fleet.number[of, N_STARTING] -= 1
    elif before == UP:
        fleet.number[of, N_UP] -= 1
    else:
        fleet.number[of, N_LEAVING] -= 1
    fleet.stage[row] = AWAY
    run.log.why[fleet.line[row]] = why
    run.log.times[fleet.line[row], GONE] = now
    _set_cores(run, row, 0, 1)
    fleet.vacated[run.queues.counts[VACATED]] = row
    run.queues.counts[VACATED] += 1
    schedule_any(run.turns, row, np.inf)
    if why != IDLE:
        look_soon(run, now)
    while fleet.top[of] > fleet.first[of] and fleet.stage[fleet.top[of] - 1] == AWAY:
        fleet.top[of] -= 1


@inlined
def _take_away(run, row, now):
    """Its provider takes an instance at once: whoever is there is killed."""
    fleet = run.fleet
    if fleet.stage[row] == UP:
        _close(run, row)
    lose_jobs(run, row, now)
    _leave(run, row, INTERRUPTED, now)


@inlined
def _close(run, row):
    """Nobody comes to an instance any more."""
    fleet, of = run.fleet, run.fleet.kind[row]
    fleet.stage[row] = LEAVING
    fleet.number[of, N_UP] -= 1
    fleet.number[of, N_LEAVING] += 1
    if fleet.jobs[row] > 0:
        fleet.number[of, N_USED] -= 1


@inlined
def _interrupt(run, row, now):
    """Its provider wants an instance back: at once, or after a warning."""
    fleet, notice = run.fleet, run.queues.clock[NOTICE]
    if fleet.stage[row] == STARTING:
        _leave(run, row, INTERRUPTED, now)
    elif notice <= 0.0 or fleet.jobs[row] == 0:
        _take_away(run, row, now)
    else:
        _close(run, row)
        schedule_any(run.turns, row, now + notice)


@inlined
def _latest(run, of):
    """The instance of a type that was launched last, of those that are starting or up."""
    fleet, found = run.fleet, np.int64(NOBODY)
    for row in range(fleet.first[of], fleet.top[of]):
        there = fleet.stage[row] == STARTING or fleet.stage[row] == UP
        if there and (found == NOBODY or fleet.line[row] > fleet.line[found]):
            found = np.int64(row)
    return found


@inlined
def _cut(run, of, limit, now):
    """The provider has room for so many of a type; those that were launched last go."""
    fleet = run.fleet
    fleet.limit[of] = limit
    while fleet.number[of, N_STARTING] + fleet.number[of, N_UP] > limit:
        _interrupt(run, _latest(run, of), now)


@lean
def alter(run, now):
    """What comes up, fails, is over or is taken at an instant."""
    fleet, counts = run.fleet, run.queues.counts
    while next_of_any(run.turns) <= now:
        row = next_worker(run.turns)
        if fleet.stage[row] == STARTING and fleet.boots[row] != 0:
            come_up(run, row, now)
        elif fleet.stage[row] == STARTING:
            _leave(run, row, FAILED, now)
        elif fleet.stage[row] == LEAVING:
            _take_away(run, row, now)
        else:
            # Whether it goes is seen when those who come at this instant have taken their places.
            schedule_any(run.turns, row, np.inf)
            fleet.expired[counts[EXPIRED]] = row
            counts[EXPIRED] += 1
    while fleet.cut_time[counts[CUT]] <= now:
        _cut(run, fleet.cut_kind[counts[CUT]], fleet.cut_limit[counts[CUT]], now)
        counts[CUT] += 1


@inlined
def _too_many(run, of):
    number = run.fleet.number
    return number[of, N_STARTING] + number[of, N_UP] > run.fleet.wanted[of]


@lean
def expire(run, now):
    """Instances that were idle for long enough go where there are too many, and those that left once they are empty."""
    fleet, counts = run.fleet, run.queues.counts
    for place in range(counts[EXPIRED] - 1, -1, -1):
        row = fleet.expired[place]
        if fleet.stage[row] == LEAVING and fleet.jobs[row] == 0:
            _leave(run, row, INTERRUPTED, now)
        elif is_empty(run, row) and _is_due(run, row, now):
            if _too_many(run, fleet.kind[row]):
                _leave(run, row, IDLE, now)
            else:
                # By the last answer it stays; the next one may let it go.
                look_soon(run, now)
        elif fleet.stage[row] == UP and fleet.jobs[row] == 0 and not is_empty(run, row):
            # Another part holds cores of it, and its time begins when these are given back.
            fleet.since[row] = np.nan
    counts[EXPIRED] = 0


@inlined
def _is_due(run, row, now):
    return run.fleet.since[row] + run.queues.clock[KEEP] <= now


@lean
def trim(run, of, now):
    """Take away those of a type that were idle for long enough, the longest first, where there are too many."""
    fleet = run.fleet
    while _too_many(run, of):
        found = np.int64(NOBODY)
        for row in range(fleet.top[of] - 1, fleet.first[of] - 1, -1):
            longer = found == NOBODY or fleet.since[row] < fleet.since[found]
            if longer and is_empty(run, row) and _is_due(run, row, now):
                found = np.int64(row)
        if found == NOBODY:
            return
        _leave(run, found, IDLE, now)
