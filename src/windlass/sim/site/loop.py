"""The loop over a site's instants: process events, call the policy, carry out its answer.

At each instant, jobs end first, then others arrive; then the policy is called once. The loop stops for a policy in
Python, which is called from outside, and the same functions carry out its answer.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.jit import Kernel, inlined, lean
from windlass.order.site.compiled import CompiledView
from windlass.order.site.queue_index import HOLE, QueueIndex
from windlass.sim.cores import holds_on
from windlass.sim.events.tree import next_of_any, next_worker
from windlass.sim.handle import opening
from windlass.sim.nodes import claimed_by_others, free_for
from windlass.sim.site.long_queue import waiting_count
from windlass.sim.site.moves import (
    count_use,
    enqueue,
    leave_queue,
    lose_job,
    record_cores,
    running_rows,
    sort_few,
    start_job,
    stop_job,
    waiting_rows,
)
from windlass.sim.site.state import NAMED, NO_ROW, NO_SLOT, SITE_RUN
from windlass.sim.status import FIRST_OWN, FULL, PAUSED, POLICY_DUE, REACHED

#: The site's own status codes: the policy's answer names a job that does not wait, needs more processors than are
#: idle, or needs more of another resource.
BAD_POSITION, TOO_WIDE, LACKING = range(FIRST_OWN, FIRST_OWN + 3)

opened = opening(SITE_RUN)


@inlined
def next_instant(run):
    """Return the instant (s) of the next submission, end or due decision; infinity for none."""
    site, count = run.site, run.site.counts[0].submitted
    arrival = site.submit[count] if count < len(site.submit) else np.inf
    return min(arrival, next_of_any(run.tree), site.clock[0].decision_due)


@inlined
def _take_ends(run, now):
    """End the jobs that end at an instant."""
    site = run.site
    while next_of_any(run.tree) == now:
        row = site.row_of[next_worker(run.tree)]
        stop_job(run, row, now)
        site.end[row] = now
        site.counts[0].ended += 1
    record_cores(run)


@inlined
def _may_start(site, row):
    return row != HOLE and site.slot[row] == NO_SLOT


@inlined
def _refusal(run, count):
    """Return why the first ``count`` positions of the answer cannot start together; PAUSED if they can."""
    site = run.site
    queue, wanted, wrong, named = waiting_rows(site), 0, PAUSED, 0
    while named < count and wrong == PAUSED:
        position = site.chosen[named]
        if position < 0 or position >= len(queue) or not _may_start(site, queue[position]):
            wrong = BAD_POSITION
        else:
            site.slot[queue[position]] = NAMED
            wanted += site.procs[queue[position]]
            named += 1
    for position in site.chosen[:named]:
        site.slot[queue[position]] = NO_SLOT
    site.counts[0].wanted = wanted
    if wrong == PAUSED and wanted > free_for(run.nodes, site.counts[0].site, site.counts[0].part):
        return TOO_WIDE
    for pool in range(len(site.pools)):
        wanted = 0
        for position in site.chosen[:named]:
            wanted += site.needs[pool, queue[position]]
        if wrong == PAUSED and wanted > site.pools[pool]:
            return LACKING
    return wrong


@inlined
def _has_room(run):
    """Return whether the answer's jobs have slots, and their pieces lines in the log."""
    site, counts = run.site, run.site.counts[0]
    lines = len(site.pieces_log) - counts.pieces_logged
    return counts.running + counts.answered <= len(site.row_of) and (
        counts.records == 0 or counts.wanted <= lines
    )


@inlined
def _note_decision(run, started):
    """Note that the waiting jobs were refused, and the idle cores; ``started`` jobs have left the queue."""
    site = run.site
    site.counts[0].refused = waiting_count(site.counts[0])
    site.counts[0].settled = site.counts[0].queue_tail - site.counts[0].queue_head if started == 0 else 0
    site.clock[0].freed_until = -np.inf
    record_cores(run)


@inlined
def _carry_out(run, now):
    """Start the answer's queue positions in its order; return FULL, without an effect, if there is no room."""
    if not _has_room(run):
        return FULL
    site, count = run.site, run.site.counts[0].answered
    site.counts[0].answered = 0
    chosen = site.chosen[:count]
    for pick in range(count):
        row = site.queue[site.counts[0].queue_head + chosen[pick]]
        site.why[row] = site.reason[pick]
        start_job(run, row, now)
    sort_few(chosen)
    leave_queue(site, chosen)
    _note_decision(run, count)
    return PAUSED


@inlined
def _view(run, now):
    site, nodes, counts = run.site, run.nodes, run.site.counts[0]
    settled = counts.settled if counts.refused != 0 else 0
    return CompiledView(
        now=now,
        free=free_for(nodes, counts.site, counts.part),
        owed=nodes.owed[counts.site],
        claimed=claimed_by_others(nodes, counts.site, counts.part),
        refused=counts.refused,
        settled=settled,
        freed_until=run.site.clock[0].freed_until,
        queue=waiting_rows(site),
        running=running_rows(site),
        submit=site.submit,
        procs=site.procs,
        request=site.request,
        expected_end=site.expected_end,
        note=site.note,
        processors=counts.whole,
        owner=site.owner,
        used=site.used,
        given=site.given,
        pools=site.pools,
        needs=site.needs,
    )


@lean
def _select_by_index(address, now):
    """Call the policy's function for a long queue.

    It opens the state itself: two such calls in one function made replays of short queues a third slower in every other
    process.
    """
    run = opened(address)
    site = run.site
    index = QueueIndex(site.counts[0].queue_head, site.bounds, site.levels, site.shortest)
    return run.select_by_index(_view(run, now), index, site.chosen, site.reason)


@inlined
def _decide_at(run, address, now):
    """Submit the arrivals of an instant, and call the policy if jobs wait; return a status, PAUSED to continue."""
    site, counts, clock = run.site, run.site.counts[0], run.site.clock[0]
    while counts.submitted < len(site.submit) and site.submit[counts.submitted] == now:
        enqueue(site, counts.submitted)
        counts.submitted += 1
    clock.now, clock.decision_due = now, np.inf
    if counts.queue_head == counts.queue_tail:
        return PAUSED
    if counts.counts_use != 0:
        count_use(site, now)
    if counts.in_python != 0:
        clock.decision_due = now
        return POLICY_DUE
    if counts.indexed != 0:
        count = _select_by_index(address, now)
    else:
        count = run.select(_view(run, now), site.chosen, site.reason)
    if count == 0:
        # Most decisions of a blocked queue.
        _note_decision(run, 0)
        return PAUSED
    status = _refusal(run, count)
    if status != PAUSED:
        return status
    counts.answered = count
    return _carry_out(run, now)


def _run(address, until, instants):
    """Process at most ``instants`` instants before ``until``, and the ends at ``until``; return a status."""
    run = opened(address)
    counts, clock = run.site.counts[0], run.site.clock[0]
    if counts.answered > 0 and _carry_out(run, clock.now) == FULL:
        return FULL
    for _ in range(instants):
        now = next_instant(run)
        if now >= until:
            if next_of_any(run.tree) == until and until < np.inf:
                _take_ends(run, until)
                clock.decision_due = until
            clock.next_instant = next_instant(run)
            return REACHED
        _take_ends(run, now)
        status = _decide_at(run, address, now)
        if status != PAUSED:
            return status
    return PAUSED


def _decide(address, now):
    """Submit what arrives now and call the policy if due; jobs that end now wait for the next round."""
    run = opened(address)
    site, counts = run.site, run.site.counts[0]
    status = PAUSED
    if counts.answered > 0:
        status = _carry_out(run, now)
    elif site.clock[0].decision_due <= now or (
        counts.submitted < len(site.submit) and site.submit[counts.submitted] <= now
    ):
        status = _decide_at(run, address, now)
    site.clock[0].next_instant = next_instant(run)
    return REACHED if status == PAUSED else status


def _commit(address):
    """Start the jobs of a validated answer of a policy in Python."""
    run = opened(address)
    if _carry_out(run, run.site.clock[0].now) == FULL:
        return FULL
    run.site.clock[0].decision_due = np.inf
    run.site.clock[0].next_instant = next_instant(run)
    return REACHED


@inlined
def _latest_on(run, row):
    """Return the job to be killed to vacate a ledger's row; -1 for none.

    It is the job that started last of those with cores of the row. Killing a guest returns its cores to its host, so a
    guest is killed only if its host has no other cores there; the host is next.
    """
    site, latest, loses = run.site, np.int64(-1), np.int64(-1)
    rated = site.counts[0].rated != 0
    for job in running_rows(site):
        if rated and site.host[job] != NO_ROW:
            continue
        first = np.int64(-1)
        if holds_on(run.pieces, site.slot[job], row):
            first = np.int64(job)
        elif rated and site.guest[job] != NO_ROW and holds_on(run.pieces, site.slot[site.guest[job]], row):
            first = np.int64(site.guest[job])
        if first >= 0 and (latest < 0 or site.start[job] > site.start[latest]):
            latest, loses = np.int64(job), first
    return loses


def _settle(address, now):
    """Vacate rows, and make a decision due if the idle cores changed; return FULL if a log is full."""
    run = opened(address)
    site, nodes = run.site, run.nodes
    for row in nodes.to_settle[: nodes.counts[0].to_settle]:
        while nodes.site[row] == site.counts[0].site and nodes.vacate[row] != 0 and nodes.idle[row] < 0:
            job = _latest_on(run, row)
            if job < 0:
                break
            if lose_job(run, job, now) == FULL:
                return FULL
    # Even with fewer idle cores, jobs behind the head may start, as the head has to wait for longer.
    other_idle = nodes.total[site.counts[0].site] != site.counts[0].idle_before
    if other_idle or nodes.owed[site.counts[0].site] != site.counts[0].owed_before:
        site.counts[0].refused = 0
        site.clock[0].freed_until = np.inf
        site.clock[0].decision_due = now
    record_cores(run)
    site.clock[0].next_instant = next_instant(run)
    return REACHED


def _horizon(address):
    """Return the next instant at which a watched row may change or a policy in Python decides; infinity for never."""
    run = opened(address)
    counts, nodes = run.site.counts[0], run.nodes
    if counts.in_python != 0 or nodes.watched[nodes.first[counts.site]] != 0:
        return run.site.clock[0].next_instant
    return np.inf


def _free(address):
    """Return the processors that jobs may take now."""
    run = opened(address)
    return free_for(run.nodes, run.site.counts[0].site, run.site.counts[0].part)


def _claimed(address):
    """Return the processors that other parts may still take."""
    run = opened(address)
    return claimed_by_others(run.nodes, run.site.counts[0].site, run.site.counts[0].part)


def _ended(address):
    """Return whether all jobs have ended."""
    site = opened(address).site
    return np.int64(site.counts[0].ended == len(site.submit))


RUN = Kernel(_run, types.int64(types.int64, types.float64, types.int64), allocates=False)
COMMIT = Kernel(_commit, types.int64(types.int64), allocates=False)
DECIDE = Kernel(_decide, types.int64(types.int64, types.float64), allocates=False)
SETTLE = Kernel(_settle, types.int64(types.int64, types.float64), allocates=False)
HORIZON = Kernel(_horizon, types.float64(types.int64), allocates=False)
ENDED = Kernel(_ended, types.int64(types.int64), allocates=False)
FREE = Kernel(_free, types.int64(types.int64), allocates=False)
CLAIMED = Kernel(_claimed, types.int64(types.int64), allocates=False)
KERNELS = (RUN, DECIDE, COMMIT, SETTLE, HORIZON, ENDED, FREE, CLAIMED)
