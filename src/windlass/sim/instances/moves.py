"""Jobs that are queued, start, end and are killed."""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined
from windlass.sim.cores import give_to, take_of
from windlass.sim.events.tree import schedule_any
from windlass.sim.instances.packing import cores_for, is_empty, ledger_row
from windlass.sim.instances.state import LEAVING, NONE, UP


@inlined
def enqueue(run, job):
    """Queue a job behind all others."""
    queues, counts = run.queues, run.queues.counts[0]
    kind = queues.job_kind[job]
    queues.sequence[job], queues.next_job[job] = counts.next_sequence, NONE
    counts.next_sequence += 1
    counts.waiting += 1
    if queues.head[kind] == NONE:
        queues.head[kind] = job
        queues.fresh[kind] = 1
        queues.waiting_index[kind] = counts.waiting_kinds
        queues.waiting_kinds[counts.waiting_kinds] = kind
        counts.waiting_kinds += 1
    else:
        queues.next_job[queues.tail[kind]] = job
    queues.tail[kind] = job


@inlined
def dequeue(run, kind):
    """Remove the first job of a kind from the queue and return it."""
    queues, counts = run.queues, run.queues.counts[0]
    job = queues.head[kind]
    queues.head[kind] = queues.next_job[job]
    counts.waiting -= 1
    if queues.head[kind] == NONE:
        counts.waiting_kinds -= 1
        last = queues.waiting_kinds[counts.waiting_kinds]
        queues.waiting_kinds[queues.waiting_index[kind]] = last
        queues.waiting_index[last] = queues.waiting_index[kind]
        queues.fresh[kind] = 0
    return job


@inlined
def mark(run, row):
    """List an instance as one with more room than before."""
    fleet, counts = run.fleet, run.queues.counts[0]
    if fleet.marked[row] == 0:
        fleet.marked[row] = 1
        fleet.changed[counts.changed] = row
        counts.changed += 1


@inlined
def hold(run, row, cores):
    """Change the number of whole cores of an instance that the part holds in the ledger."""
    nodes, counts, at = run.nodes, run.queues.counts[0], ledger_row(run, row)
    more = cores - nodes.held[at, counts.part]
    if more > 0:
        take_of(nodes, at, counts.site, counts.part, more)
    elif more < 0:
        give_to(nodes, at, counts.site, counts.part, -more)


@inlined
def _add_job(run, row, now):
    """Count one more job on an instance."""
    fleet = run.fleet
    if fleet.jobs[row] == 0:
        fleet.occupied[fleet.kind[row]] += 1
        fleet.since[row] = now
        schedule_any(run.turns, row, np.inf)
    fleet.jobs[row] += 1


@inlined
def empty_since(run, row, now):
    """Begin the idle time of an instance that has become empty; one that is LEAVING has none."""
    fleet, counts = run.fleet, run.queues.counts[0]
    fleet.since[row] = now
    if fleet.stage[row] == LEAVING:
        schedule_any(run.turns, row, np.inf)
        fleet.expired[counts.expired] = row
        counts.expired += 1
    elif fleet.stage[row] == UP:
        schedule_any(run.turns, row, now + run.queues.clock[0].idle_limit)


@inlined
def _remove_job(run, row, now):
    """Count one job less on an instance."""
    fleet = run.fleet
    fleet.jobs[row] -= 1
    if fleet.jobs[row] == 0:
        if fleet.stage[row] == UP:
            fleet.occupied[fleet.kind[row]] -= 1
        run.log.busy[fleet.line[row]] += now - fleet.since[row]
        empty_since(run, row, now)
    if fleet.stage[row] == UP:
        mark(run, row)


@inlined
def start_job(run, kind, row, now):
    """Start the first job of a kind on an instance; a gang starts on the empty ones from this row on."""
    queues, counts, fleet = run.queues, run.queues.counts[0], run.fleet
    job = dequeue(run, kind)
    slot = queues.free_slots[counts.running]
    counts.running += 1
    queues.slot[job], queues.job_of[slot] = slot, job
    queues.start[job], queues.first_row[job] = now, row
    schedule_any(run.ends, slot, now + queues.run[job])
    if queues.gang[kind] == 0:
        for resource in range(3):
            fleet.used[row, resource] += queues.vector[kind, resource]
        _add_job(run, row, now)
        hold(run, row, cores_for(fleet.used[row, 1]))
        counts.pieces += 1
        return
    left, of = queues.gang[kind], fleet.kind[row]
    counts.pieces += left
    while left > 0:
        if is_empty(run, row):
            for resource in range(3):
                fleet.used[row, resource] = fleet.capacity[of, resource]
            fleet.owner[row] = job
            _add_job(run, row, now)
            hold(run, row, fleet.cores[of])
            left -= 1
        row += 1


@inlined
def _note_attempt(run, job, row, now):
    log, counts = run.log, run.queues.counts[0]
    line = counts.attempts
    counts.attempts += 1
    log.job[line], log.launch[line] = job, run.fleet.line[row]
    log.began[line], log.ended[line] = run.queues.start[job], now


@inlined
def _stop(run, job, now):
    """Stop a job and release its resources."""
    queues, counts, fleet = run.queues, run.queues.counts[0], run.fleet
    kind, slot, row = queues.job_kind[job], queues.slot[job], queues.first_row[job]
    schedule_any(run.ends, slot, np.inf)
    counts.running -= 1
    queues.free_slots[counts.running] = slot
    queues.job_of[slot], queues.slot[job] = NONE, NONE
    if queues.gang[kind] == 0:
        for resource in range(3):
            fleet.used[row, resource] -= queues.vector[kind, resource]
        _note_attempt(run, job, row, now)
        hold(run, row, cores_for(fleet.used[row, 1]))
        counts.pieces -= 1
        _remove_job(run, row, now)
        return
    left = queues.gang[kind]
    counts.pieces -= left
    while left > 0:
        if fleet.owner[row] == job:
            fleet.owner[row] = NONE
            for resource in range(3):
                fleet.used[row, resource] = 0
            _note_attempt(run, job, row, now)
            hold(run, row, 0)
            _remove_job(run, row, now)
            left -= 1
        row += 1


@inlined
def end_job(run, slot, now):
    """End the job of a slot."""
    queues = run.queues
    job = queues.job_of[slot]
    _stop(run, job, now)
    queues.end[job] = now
    queues.unfinished[queues.job_kind[job]] -= 1
    queues.counts[0].ended += 1


@inlined
def lose_jobs(run, row, now):
    """Kill the jobs of an instance and queue them behind all others; they will start from the beginning."""
    queues, fleet = run.queues, run.fleet
    for slot in range(len(queues.job_of)):
        job = queues.job_of[slot]
        if fleet.jobs[row] == 0:
            return
        if job == NONE:
            continue
        if queues.first_row[job] == row or fleet.owner[row] == job:
            _stop(run, job, now)
            queues.start[job] = np.nan
            queues.counts[0].lost += 1
            enqueue(run, job)
