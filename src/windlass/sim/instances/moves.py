"""Jobs come, start, end and are lost."""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined
from windlass.sim.cores import give_to, take_of
from windlass.sim.events.tree import schedule_any
from windlass.sim.instances.packing import cores_for, is_empty, ledger_row
from windlass.sim.instances.state import (
    ATTEMPTS,
    CHANGED,
    ENDED,
    EXPIRED,
    KEEP,
    KINDS,
    LEAVING,
    LOST,
    N_USED,
    NOBODY,
    PART,
    PIECES,
    RUNNING,
    SEQUENCE,
    SITE,
    UP,
    WAITING,
)


@inlined
def enqueue(run, job):
    """A job waits, behind all others."""
    queues, counts = run.queues, run.queues.counts
    kind = queues.job_kind[job]
    queues.sequence[job], queues.after[job] = counts[SEQUENCE], NOBODY
    counts[SEQUENCE] += 1
    counts[WAITING] += 1
    if queues.head[kind] == NOBODY:
        queues.head[kind] = job
        queues.fresh[kind] = 1
        queues.place[kind] = counts[KINDS]
        queues.some[counts[KINDS]] = kind
        counts[KINDS] += 1
    else:
        queues.after[queues.tail[kind]] = job
    queues.tail[kind] = job


@inlined
def dequeue(run, kind):
    """The first that waits of a kind waits no longer: who."""
    queues, counts = run.queues, run.queues.counts
    job = queues.head[kind]
    queues.head[kind] = queues.after[job]
    counts[WAITING] -= 1
    if queues.head[kind] == NOBODY:
        counts[KINDS] -= 1
        last = queues.some[counts[KINDS]]
        queues.some[queues.place[kind]] = last
        queues.place[last] = queues.place[kind]
        queues.fresh[kind] = 0
    return job


@inlined
def mark(run, row):
    """An instance has more room than before."""
    fleet, counts = run.fleet, run.queues.counts
    if fleet.marked[row] == 0:
        fleet.marked[row] = 1
        fleet.changed[counts[CHANGED]] = row
        counts[CHANGED] += 1


@inlined
def hold(run, row, cores):
    """Hold so many whole cores of an instance in the ledger, neither more nor less."""
    nodes, counts, at = run.nodes, run.queues.counts, ledger_row(run, row)
    more = cores - nodes.held[at, counts[PART]]
    if more > 0:
        take_of(nodes, at, counts[SITE], counts[PART], more)
    elif more < 0:
        give_to(nodes, at, counts[SITE], counts[PART], -more)


@inlined
def _come_to(run, row, now):
    """One more job is on an instance."""
    fleet = run.fleet
    if fleet.jobs[row] == 0:
        fleet.number[fleet.kind[row], N_USED] += 1
        fleet.since[row] = now
        schedule_any(run.turns, row, np.inf)
    fleet.jobs[row] += 1


@inlined
def empty_since(run, row, now):
    """Nobody is on an instance any more: it may go when it has been so for long enough, or at once."""
    fleet, counts = run.fleet, run.queues.counts
    fleet.since[row] = now
    if fleet.stage[row] == LEAVING:
        schedule_any(run.turns, row, np.inf)
        fleet.expired[counts[EXPIRED]] = row
        counts[EXPIRED] += 1
    elif fleet.stage[row] == UP:
        schedule_any(run.turns, row, now + run.queues.clock[KEEP])


@inlined
def _go_from(run, row, now):
    """One job less is on an instance."""
    fleet = run.fleet
    fleet.jobs[row] -= 1
    if fleet.jobs[row] == 0:
        if fleet.stage[row] == UP:
            fleet.number[fleet.kind[row], N_USED] -= 1
        run.log.busy[fleet.line[row]] += now - fleet.since[row]
        empty_since(run, row, now)
    if fleet.stage[row] == UP:
        mark(run, row)


@inlined
def start_job(run, kind, row, now):
    """The first that waits of a kind starts at a row, or a gang on the empty ones from there on."""
    queues, counts, fleet = run.queues, run.queues.counts, run.fleet
    job = dequeue(run, kind)
    slot = queues.spare[counts[RUNNING]]
    counts[RUNNING] += 1
    queues.slot[job], queues.job_of[slot] = slot, job
    queues.start[job], queues.where[job] = now, row
    schedule_any(run.ends, slot, now + queues.run[job])
    if queues.gang[kind] == 0:
        for resource in range(3):
            fleet.used[row, resource] += queues.vector[kind, resource]
        _come_to(run, row, now)
        hold(run, row, cores_for(fleet.used[row, 1]))
        counts[PIECES] += 1
        return
    left, of = queues.gang[kind], fleet.kind[row]
    counts[PIECES] += left
    while left > 0:
        if is_empty(run, row):
            for resource in range(3):
                fleet.used[row, resource] = fleet.capacity[of, resource]
            fleet.owner[row] = job
            _come_to(run, row, now)
            hold(run, row, fleet.cores[of])
            left -= 1
        row += 1


@inlined
def _note_attempt(run, job, row, now):
    log, counts = run.log, run.queues.counts
    line = counts[ATTEMPTS]
    counts[ATTEMPTS] += 1
    log.job[line], log.launch[line] = job, run.fleet.line[row]
    log.began[line], log.ended[line] = run.queues.start[job], now


@inlined
def _stop(run, job, now):
    """A job gives back all that it holds."""
    queues, counts, fleet = run.queues, run.queues.counts, run.fleet
    kind, slot, row = queues.job_kind[job], queues.slot[job], queues.where[job]
    schedule_any(run.ends, slot, np.inf)
    counts[RUNNING] -= 1
    queues.spare[counts[RUNNING]] = slot
    queues.job_of[slot], queues.slot[job] = NOBODY, NOBODY
    if queues.gang[kind] == 0:
        for resource in range(3):
            fleet.used[row, resource] -= queues.vector[kind, resource]
        _note_attempt(run, job, row, now)
        hold(run, row, cores_for(fleet.used[row, 1]))
        counts[PIECES] -= 1
        _go_from(run, row, now)
        return
    left = queues.gang[kind]
    counts[PIECES] -= left
    while left > 0:
        if fleet.owner[row] == job:
            fleet.owner[row] = NOBODY
            for resource in range(3):
                fleet.used[row, resource] = 0
            _note_attempt(run, job, row, now)
            hold(run, row, 0)
            _go_from(run, row, now)
            left -= 1
        row += 1


@inlined
def end_job(run, slot, now):
    """A job has run."""
    queues = run.queues
    job = queues.job_of[slot]
    _stop(run, job, now)
    queues.end[job] = now
    queues.alive[queues.job_kind[job]] -= 1
    queues.counts[ENDED] += 1


@inlined
def lose_jobs(run, row, now):
    """Those on an instance are killed; they wait again behind all others, to run from their beginning."""
    queues, fleet = run.queues, run.fleet
    for slot in range(len(queues.job_of)):
        job = queues.job_of[slot]
        if fleet.jobs[row] == 0:
            return
        if job == NOBODY:
            continue
        if queues.where[job] == row or fleet.owner[row] == job:
            _stop(run, job, now)
            queues.start[job] = np.nan
            queues.counts[LOST] += 1
            enqueue(run, job)
