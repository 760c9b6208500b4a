"""Instances that are launched, come up, and end."""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined, lean
from windlass.sim.cores import set_idle
from windlass.sim.events.tree import next_of_any, next_worker, schedule_any
from windlass.sim.instances.moves import lose_jobs, mark
from windlass.sim.instances.packing import is_unused, ledger_row
from windlass.sim.instances.polling import poll_soon
from windlass.sim.instances.state import AWAY, FAILED, IDLE, INTERRUPTED, LEAVING, NONE, STARTING, UP, opened


@inlined
def _set_cores(run, row, cores, vacate):
    """Change the capacity of the ledger's row of an instance."""
    nodes, at = run.nodes, ledger_row(run, row)
    idle = nodes.idle[at] + cores - nodes.capacity[at]
    nodes.vacate[at] = vacate
    nodes.capacity[at] = cores
    if idle != nodes.idle[at]:
        set_idle(nodes, at, run.queues.counts[0].site, idle)
    if vacate != 0 and run.queues.counts[0].shared != 0:
        nodes.counts[0].vacating = 1


@inlined
def launch(run, of, delay, boots, now):
    """Launch an instance of a type that has a free row; return the row."""
    fleet, log, counts = run.fleet, run.log, run.queues.counts[0]
    row = fleet.first[of]
    while fleet.stage[row] != AWAY:
        row += 1
    fleet.top[of] = max(fleet.top[of], row + 1)
    line = counts.launches
    counts.launches += 1
    log.kind[line], log.why[line], log.busy[line] = of, NONE, 0.0
    log.launched[line], log.ready[line], log.gone[line] = now, np.nan, np.nan
    fleet.stage[row], fleet.line[row], fleet.boots[row] = STARTING, line, boots
    fleet.starting[of] += 1
    schedule_any(run.turns, row, now + delay)
    return row


@inlined
def come_up(run, row, now):
    """Make a launched instance ready for jobs."""
    fleet, of = run.fleet, run.fleet.kind[row]
    fleet.starting[of] -= 1
    fleet.up[of] += 1
    fleet.stage[row], fleet.jobs[row], fleet.owner[row], fleet.since[row] = UP, 0, NONE, now
    for resource in range(3):
        fleet.used[row, resource] = 0
    run.log.ready[fleet.line[row]] = now
    _set_cores(run, row, fleet.cores[of], 0)
    schedule_any(run.turns, row, now + run.queues.clock[0].idle_limit)
    mark(run, row)


@inlined
def _end(run, row, why, now):
    """End an instance that runs none of this part's jobs."""
    fleet, of, before = run.fleet, run.fleet.kind[row], run.fleet.stage[row]
    if before == STARTING:
        fleet.starting[of] -= 1
    elif before == UP:
        fleet.up[of] -= 1
    else:
        fleet.leaving[of] -= 1
    fleet.stage[row] = AWAY
    run.log.why[fleet.line[row]] = why
    run.log.gone[fleet.line[row]] = now
    _set_cores(run, row, 0, 1)
    schedule_any(run.turns, row, np.inf)
    if why != IDLE:
        poll_soon(run, now)
    while fleet.top[of] > fleet.first[of] and fleet.stage[fleet.top[of] - 1] == AWAY:
        fleet.top[of] -= 1


@inlined
def _take_away(run, row, now):
    """Interrupt an instance at once and kill its jobs."""
    fleet = run.fleet
    if fleet.stage[row] == UP:
        _close(run, row)
    lose_jobs(run, row, now)
    _end(run, row, INTERRUPTED, now)


@inlined
def _close(run, row):
    """Let no more jobs start on an instance."""
    fleet, of = run.fleet, run.fleet.kind[row]
    fleet.stage[row] = LEAVING
    fleet.up[of] -= 1
    fleet.leaving[of] += 1
    if fleet.jobs[row] > 0:
        fleet.occupied[of] -= 1


@inlined
def _interrupt(run, row, now):
    """Interrupt an instance, after a warning if it has jobs."""
    fleet, notice = run.fleet, run.queues.clock[0].notice
    if fleet.stage[row] == STARTING:
        _end(run, row, INTERRUPTED, now)
    elif notice <= 0.0 or fleet.jobs[row] == 0:
        _take_away(run, row, now)
    else:
        _close(run, row)
        schedule_any(run.turns, row, now + notice)


@inlined
def _latest(run, of):
    """Return the last launched instance of a type that is starting or up."""
    fleet, latest = run.fleet, np.int64(NONE)
    for row in range(fleet.first[of], fleet.top[of]):
        present = fleet.stage[row] == STARTING or fleet.stage[row] == UP
        if present and (latest == NONE or fleet.line[row] > fleet.line[latest]):
            latest = np.int64(row)
    return latest


@inlined
def _cut(run, of, limit, now):
    """Set the provider's limit for a type, and interrupt the last launched instances above it."""
    fleet = run.fleet
    fleet.limit[of] = limit
    while fleet.starting[of] + fleet.up[of] > limit:
        _interrupt(run, _latest(run, of), now)


@inlined
def _turn(run, row, now):
    """Carry out the change of an instance that is due."""
    fleet, counts = run.fleet, run.queues.counts[0]
    if fleet.stage[row] == STARTING and fleet.boots[row] != 0:
        come_up(run, row, now)
    elif fleet.stage[row] == STARTING:
        _end(run, row, FAILED, now)
    elif fleet.stage[row] == LEAVING:
        _take_away(run, row, now)
    else:
        # Jobs that are submitted at this instant are placed before :func:`expire` ends idle instances.
        schedule_any(run.turns, row, np.inf)
        fleet.expired[counts.expired] = row
        counts.expired += 1


@lean
def alter(address, now):
    """Carry out the changes of instances that are due: boots, failures, ends of idle times, and interruptions."""
    run = opened(address)
    fleet, counts = run.fleet, run.queues.counts[0]
    while True:
        while next_of_any(run.turns) <= now:
            _turn(run, next_worker(run.turns), now)
        if fleet.cut_time[counts.cuts] > now:
            break
        # An instance whose job is killed by a cut may be idle for long enough at once.
        _cut(run, fleet.cut_kind[counts.cuts], fleet.cut_limit[counts.cuts], now)
        counts.cuts += 1


@inlined
def _too_many(run, of):
    fleet = run.fleet
    return fleet.starting[of] + fleet.up[of] > fleet.wanted[of]


@lean
def expire(address, now):
    """End unneeded instances that have been idle for the limit, and empty ones that the provider takes."""
    run = opened(address)
    fleet, counts = run.fleet, run.queues.counts[0]
    for place in range(counts.expired - 1, -1, -1):
        row = fleet.expired[place]
        if fleet.stage[row] == LEAVING and fleet.jobs[row] == 0:
            _end(run, row, INTERRUPTED, now)
        elif is_unused(run, row) and _is_due(run, row, now):
            if _too_many(run, fleet.kind[row]):
                _end(run, row, IDLE, now)
            else:
                # The last answer keeps the instance; the next one may not.
                poll_soon(run, now)
        elif fleet.stage[row] == UP and fleet.jobs[row] == 0 and not is_unused(run, row):
            # Another part holds cores of the instance; its idle time begins when they are released.
            fleet.since[row] = np.nan
    counts.expired = 0


@inlined
def _is_due(run, row, now):
    return run.fleet.since[row] + run.queues.clock[0].idle_limit <= now


@lean
def trim(address, of, now):
    """End unneeded instances of a type that have been idle for the limit, the longest idle first."""
    run = opened(address)
    fleet = run.fleet
    while _too_many(run, of):
        longest = np.int64(NONE)
        for row in range(fleet.top[of] - 1, fleet.first[of] - 1, -1):
            longer = longest == NONE or fleet.since[row] < fleet.since[longest]
            if longer and is_unused(run, row) and _is_due(run, row, now):
                longest = np.int64(row)
        if longest == NONE:
            return
        _end(run, longest, IDLE, now)
