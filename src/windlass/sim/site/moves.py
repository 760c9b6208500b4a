"""Transitions of a site's jobs: queued, started, stopped, killed."""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined, slicing
from windlass.order.site.compiled import user_of
from windlass.sim.cores import give_back, take
from windlass.sim.events.tree import schedule_any
from windlass.sim.site.long_queue import compact, index_last, leave_holes, make_index
from windlass.sim.site.rates import begin_rated, list_running, part_pair, unlist_running
from windlass.sim.site.state import NO_SLOT
from windlass.sim.status import FULL, PAUSED

LN_2 = float(np.log(2.0))


@inlined
def record_cores(run):
    """Record the idle and owed cores of the ledger."""
    counts = run.site.counts[0]
    counts.idle_before, counts.owed_before = run.nodes.total[counts.site], run.nodes.owed[counts.site]


@slicing
def waiting_rows(site):
    """Return the rows of waiting jobs, in the order of the queue."""
    return site.queue[site.counts[0].queue_head : site.counts[0].queue_tail]


@slicing
def running_rows(site):
    """Return the rows of running jobs, by expected end, then processors."""
    return site.running[: site.counts[0].running]


@inlined
def enqueue(site, row):
    """Append a job to the queue."""
    counts = site.counts[0]
    if counts.queue_tail == len(site.queue):
        # After restarts of jobs, the queue moves to the front of its array.
        compact(site, 0)
        if counts.indexed != 0:
            make_index(site)
    site.queue[counts.queue_tail] = row
    counts.queue_tail += 1
    index_last(site)


@inlined
def _note_pieces(run, row, slot, now):
    """Log the pieces that a job takes."""
    site, pieces, counts = run.site, run.pieces, run.site.counts[0]
    first, piece = run.nodes.first[counts.site], np.int64(pieces.chain[slot])
    node, cores = np.int64(pieces.last_row[slot]), np.int64(pieces.last_cores[slot])
    while True:
        line = site.pieces_log[counts.pieces_logged]
        line[0], line[1], line[2], line[3] = row, node - first, cores, now
        counts.pieces_logged += 1
        if piece < 0:
            break
        node, cores, piece = (
            np.int64(pieces.row[piece]),
            np.int64(pieces.cores[piece]),
            np.int64(pieces.after[piece]),
        )


@inlined
def count_use(site, now):
    """Update the use of each user up to an instant; use that is older by a half-life counts half.

    Between two changes a user holds some processors p all the time. Then the use u becomes u k + p h (1 - k) / ln 2,
    where k = 2^(-t / h) after a time t with half-life h.
    """
    past, half = now - site.clock[0].use_counted, site.clock[0].half_life
    kept, gained = 1.0, past
    if past > 0.0 and half < np.inf:
        kept = 2.0 ** (-past / half)
        gained = (1.0 - kept) * half / LN_2
    if past > 0.0:
        for user in range(len(site.used)):
            # Before the first instant no processor is held, and ``gained`` is infinite.
            more = site.using[user] * gained if site.using[user] > 0.0 else 0.0
            site.used[user] = site.used[user] * kept + more
        site.clock[0].use_counted = now


@inlined
def take_slot(site, row):
    """Give a slot to a job that is about to run; a slot must be free."""
    slot = site.spare[site.counts[0].running]
    site.slot[row], site.row_of[slot] = slot, row
    return slot


@inlined
def start_job(run, row, now):
    """Start a job: take its processors and other resources."""
    site, counts = run.site, run.site.counts[0]
    site.start[row] = now
    site.expected_end[row] = now + site.request[row]
    slot = take_slot(site, row)
    list_running(site, row)
    take(run.nodes, run.pieces, slot, counts.site, counts.part, site.procs[row])
    for pool in range(len(site.pools)):
        site.pools[pool] -= site.needs[pool, row]
    if counts.records != 0:
        _note_pieces(run, row, slot, now)
    if counts.rated != 0:
        begin_rated(site, row, now)
    if counts.counts_use != 0:
        count_use(site, now)
        site.using[user_of(site.owner, row)] += site.procs[row]
    schedule_any(run.tree, slot, now + site.held[row])


@inlined
def stop_job(run, row, now):
    """Stop a job: give back its processors and other resources."""
    site, counts = run.site, run.site.counts[0]
    counts.refused = 0
    # The end of a guest or a host changes what the other one holds; a late job was expected to end at any time.
    known = counts.rated == 0 and site.expected_end[row] >= now
    site.clock[0].freed_until = max(site.clock[0].freed_until, site.expected_end[row] if known else np.inf)
    unlist_running(site, row)
    if counts.rated != 0:
        part_pair(run, row, now)
    if counts.counts_use != 0:
        count_use(site, now)
        site.using[user_of(site.owner, row)] -= site.procs[row]
    slot = site.slot[row]
    site.slot[row] = NO_SLOT
    site.spare[counts.running] = slot
    give_back(run.nodes, run.pieces, slot, counts.site, counts.part)
    for pool in range(len(site.pools)):
        site.pools[pool] += site.needs[pool, row]
    schedule_any(run.tree, slot, np.inf)


@inlined
def sort_few(values):
    """Sort a few values, nearly sorted already, in place."""
    for index in range(1, len(values)):
        value = values[index]
        slot = index
        while slot > 0 and values[slot - 1] > value:
            values[slot] = values[slot - 1]
            slot -= 1
        values[slot] = value


@inlined
def leave_queue(site, chosen):
    """Remove the chosen queue positions, ascending; the other jobs keep their order."""
    if len(chosen) == 0:
        return
    if site.counts[0].indexed != 0:
        leave_holes(site, chosen)
        return
    head = site.counts[0].queue_head
    target = chosen[-1]
    pick = len(chosen) - 1
    for position in range(chosen[-1], -1, -1):
        if pick >= 0 and chosen[pick] == position:
            pick -= 1
        else:
            site.queue[head + target] = site.queue[head + position]
            target -= 1
    site.counts[0].queue_head += len(chosen)


@inlined
def lose_job(run, row, now):
    """Kill a job and queue it again; return FULL, without an effect, if the log of killed attempts is full."""
    site, lost = run.site, run.site.counts[0].lost
    if lost == len(site.lost):
        return FULL
    site.lost[lost], site.lost_times[lost, 0], site.lost_times[lost, 1] = row, site.start[row], now
    site.counts[0].lost += 1
    stop_job(run, row, now)
    site.start[row] = site.note[row] = np.nan
    enqueue(site, row)
    site.clock[0].decision_due = now
    return PAUSED
