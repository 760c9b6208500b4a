"""The loop over a site's instants: what happens is taken in, the policy is asked, its answer is carried out.

At each instant, jobs end first, then others arrive; then the policy is asked once. A policy in Python is asked from
outside of the loop, which stops for it, and its answer is carried out by the same steps.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.jit import Kernel, inlined
from windlass.order.site.compiled import CompiledView
from windlass.sim.cores import holds_on
from windlass.sim.events.tree import next_of_any, next_worker
from windlass.sim.handle import opening, storing
from windlass.sim.site.moves import (
    count_use,
    enqueue,
    leave_queue,
    look,
    lose_job,
    running_rows,
    sort_few,
    start_job,
    stop_job,
    waiting_rows,
)
from windlass.sim.site.state import NAMED, NO_ROW, NO_SLOT, SITE_RUN
from windlass.sim.status import ASK, FIRST_OWN, FULL, PAUSED, REACHED

#: How else :func:`_run` returned: the policy's answer names who does not wait, or needs more processors than are idle,
#: or more of another resource.
BAD_POSITION, TOO_WIDE, LACKING = range(FIRST_OWN, FIRST_OWN + 3)

opened = opening(SITE_RUN)
STORE = storing(SITE_RUN)


@inlined
def next_instant(run):
    """When something happens next, s: a submission, an end, a decision that is due; infinity where nothing does."""
    site, count = run.site, run.site.counts[0].submitted
    arrival = site.submit[count] if count < len(site.submit) else np.inf
    return min(arrival, next_of_any(run.tree), site.clock[0].decision_due)


@inlined
def _take_ends(run, now):
    """Jobs that end at an instant give their processors back."""
    site = run.site
    while next_of_any(run.tree) == now:
        row = site.row_of[next_worker(run.tree)]
        stop_job(run, row, now)
        site.end[row] = now
        site.counts[0].ended += 1
    look(run)


@inlined
def _refusal(run, count):
    """Why the first `count` positions of the answer cannot be started together; PAUSED where they can."""
    site = run.site
    queue, wanted, wrong, named = waiting_rows(site), 0, PAUSED, 0
    while named < count and wrong == PAUSED:
        position = site.chosen[named]
        if position < 0 or position >= len(queue) or site.slot[queue[position]] != NO_SLOT:
            wrong = BAD_POSITION
        else:
            site.slot[queue[position]] = NAMED
            wanted += site.procs[queue[position]]
            named += 1
    for position in site.chosen[:named]:
        site.slot[queue[position]] = NO_SLOT
    site.counts[0].wanted = wanted
    if wrong == PAUSED and wanted > run.nodes.total[site.counts[0].site]:
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
    """Whether there are slots for all that the answer names, and lines for their pieces."""
    site, counts = run.site, run.site.counts[0]
    lines = len(site.pieces_log) - counts.pieces_logged
    return counts.running + counts.answered <= len(site.row_of) and (
        counts.records == 0 or counts.wanted <= lines
    )


@inlined
def _carry_out(run, now):
    """Start the queue positions that the answer names, in its order; FULL, and nothing, where there is no room."""
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
    site.counts[0].refused = site.counts[0].queue_tail - site.counts[0].queue_head
    look(run)
    return PAUSED


@inlined
def _view(run, now):
    site, nodes, counts = run.site, run.nodes, run.site.counts[0]
    return CompiledView(
        now=now,
        free=nodes.total[counts.site],
        owed=nodes.owed[counts.site],
        refused=counts.refused,
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


@inlined
def _decide_at(run, now):
    """Take in what is submitted at an instant, and ask the policy if anybody waits; PAUSED, or how to return."""
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
        return ASK
    count = run.select(_view(run, now), site.chosen, site.reason)
    status = _refusal(run, count)
    if status != PAUSED:
        return status
    counts.answered = count
    return _carry_out(run, now)


def _run(address, until, instants):
    """Go through instants before `until`, so many at most, and take in what ends at `until`; a status code."""
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
        status = _decide_at(run, now)
        if status != PAUSED:
            return status
    return PAUSED


def _decide(address, now):
    """Take in what is submitted now and ask the policy, where that is due; what ends now waits for another round."""
    run = opened(address)
    site, counts = run.site, run.site.counts[0]
    status = PAUSED
    if counts.answered > 0:
        status = _carry_out(run, now)
    elif site.clock[0].decision_due <= now or (
        counts.submitted < len(site.submit) and site.submit[counts.submitted] <= now
    ):
        status = _decide_at(run, now)
    site.clock[0].next_instant = next_instant(run)
    return REACHED if status == PAUSED else status


def _commit(address):
    """Start what the answer of a policy in Python names, which was checked."""
    run = opened(address)
    if _carry_out(run, run.site.clock[0].now) == FULL:
        return FULL
    run.site.clock[0].decision_due = np.inf
    run.site.clock[0].next_instant = next_instant(run)
    return REACHED


@inlined
def _latest_on(run, row):
    """Of the jobs that have cores of a ledger's row, the one that started last; -1 where there is none.

    No guest is: what it has, its host would have again.
    """
    site, latest = run.site, np.int64(-1)
    for job in running_rows(site):
        if site.counts[0].rated != 0 and site.host[job] != NO_ROW:
            continue
        if holds_on(run.pieces, site.slot[job], row) and (latest < 0 or site.start[job] > site.start[latest]):
            latest = job
    return latest


def _settle(address, now):
    """Give up what is to be vacated, and see whether more is idle than before; FULL where the log of the lost is."""
    run = opened(address)
    site, nodes = run.site, run.nodes
    for row in nodes.taken[: nodes.counts[0].taken]:
        while nodes.site[row] == site.counts[0].site and nodes.vacate[row] != 0 and nodes.idle[row] < 0:
            job = _latest_on(run, row)
            if job < 0:
                break
            if lose_job(run, job, now) == FULL:
                return FULL
    # Where less is idle, or more is owed, the head has to wait for longer, and others may run meanwhile.
    other_idle = nodes.total[site.counts[0].site] != site.counts[0].idle_before
    if other_idle or nodes.owed[site.counts[0].site] != site.counts[0].owed_before:
        site.counts[0].refused = 0
        site.clock[0].decision_due = now
    look(run)
    site.clock[0].next_instant = next_instant(run)
    return REACHED


RUN = Kernel(_run, types.int64(types.int64, types.float64, types.int64), allocates=False)
COMMIT = Kernel(_commit, types.int64(types.int64), allocates=False)
DECIDE = Kernel(_decide, types.int64(types.int64, types.float64), allocates=False)
SETTLE = Kernel(_settle, types.int64(types.int64, types.float64), allocates=False)
KERNELS = (STORE, RUN, DECIDE, COMMIT, SETTLE)
