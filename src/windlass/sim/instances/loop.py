"""The event loop: ends of jobs, changes of instances, submissions, placement, and decisions that are due.

:mod:`~windlass.sim.instances.placing` has the placement.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.jit import Kernel, inlined
from windlass.sim.events.tree import next_of_any, next_worker
from windlass.sim.instances.lifecycle import alter, expire, launch, trim
from windlass.sim.instances.moves import empty_since, end_job, enqueue, mark
from windlass.sim.instances.packing import is_unused
from windlass.sim.instances.placing import place_jobs, rows_left
from windlass.sim.instances.polling import note_decision, poll_for_arrivals, poll_soon
from windlass.sim.instances.state import NONE, UP, opened
from windlass.sim.status import FIRST_OWN, FULL, PAUSED, POLICY_DUE, REACHED

#: Status of an instant at which other loads are to be read first.
CHECK_DUE = FIRST_OWN


@inlined
def _goes_on(run):
    """Return whether this part's jobs, or other loads, still need instances."""
    counts = run.queues.counts[0]
    return counts.ended < len(run.queues.submit) or counts.kept != 0


@inlined
def next_instant(run):
    """Return the time of the next event, s; infinity if there is none or no load needs instances any more."""
    queues, counts, clock = run.queues, run.queues.counts[0], run.queues.clock[0]
    if not _goes_on(run):
        return np.inf
    arrival = queues.submit[counts.submitted] if counts.submitted < len(queues.submit) else np.inf
    of_jobs = min(arrival, next_of_any(run.ends), clock.decision_due, clock.next_poll)
    return min(of_jobs, next_of_any(run.turns), run.fleet.cut_time[counts.cuts], clock.open_instant)


@inlined
def _has_lines(run):
    """Return whether the logs have room for all events of one instant."""
    counts, log = run.queues.counts[0], run.log
    attempts = counts.attempts + counts.pieces <= len(log.job)
    return attempts and counts.launches + len(run.fleet.stage) <= len(log.kind)


@inlined
def _take_ends(run, now):
    while next_of_any(run.ends) == now:
        end_job(run, next_worker(run.ends), now)
        run.queues.clock[0].last_end = now


@inlined
def _arrive(run, now):
    queues, counts = run.queues, run.queues.counts[0]
    while counts.submitted < len(queues.submit) and queues.submit[counts.submitted] <= now:
        enqueue(run, counts.submitted)
        queues.unfinished[queues.job_kind[counts.submitted]] += 1
        counts.submitted += 1


@inlined
def _decide_at(address, now):
    """Queue submitted jobs, place jobs, and end idle instances; return POLICY_DUE, FULL, or PAUSED."""
    run = opened(address)
    counts, clock = run.queues.counts[0], run.queues.clock[0]
    clock.now, clock.open_instant = now, now
    _arrive(run, now)
    if place_jobs(address, now) == FULL:
        counts.slots_full = 1
        return FULL
    poll_for_arrivals(run, now)
    expire(address, now)
    clock.open_instant = np.inf
    if min(clock.decision_due, clock.next_poll) <= now and _goes_on(run):
        counts.decision_open = 1
        return POLICY_DUE
    return PAUSED


def _run(address, until, steps):
    """Process at most `steps` instants before `until`, and the ends of jobs at `until`; return a status code."""
    run = opened(address)
    counts, clock = run.queues.counts[0], run.queues.clock[0]
    if counts.slots_full != 0:
        counts.slots_full = 0
        status = _decide_at(address, clock.now)
        if status != PAUSED:
            return status
    for _ in range(steps):
        now = next_instant(run)
        if not _has_lines(run):
            return FULL
        if now >= until:
            if until < np.inf:
                _take_ends(run, until)
            clock.next_instant = next_instant(run)
            return REACHED
        _take_ends(run, now)
        alter(address, now)
        status = _decide_at(address, now)
        if status != PAUSED:
            clock.next_instant = now
            return status
    return PAUSED


def _alter(address, now):
    """Carry out the changes of instances at an instant; return FULL if a log is full."""
    run = opened(address)
    if not _has_lines(run):
        return FULL
    counts, clock = run.queues.counts[0], run.queues.clock[0]
    due = next_of_any(run.turns) <= now or run.fleet.cut_time[counts.cuts] <= now
    # After the last job instances stay as they are, however often other parts have this part called.
    if due and (_goes_on(run) or clock.last_end == now):
        alter(address, now)
        clock.open_instant = now
    return REACHED


def _settle(address, now):
    """Take note of cores that other parts have released."""
    run = opened(address)
    nodes, counts, clock, fleet = run.nodes, run.queues.counts[0], run.queues.clock[0], run.fleet
    for at in nodes.to_settle[: nodes.counts[0].to_settle]:
        row = at - nodes.first[counts.site] - counts.after
        if nodes.site[at] != counts.site or row < 0 or fleet.stage[row] != UP:
            continue
        if nodes.idle[at] > 0:
            clock.open_instant = now
            mark(run, row)
        # The idle time of an instance that this part emptied at this instant runs already.
        if is_unused(run, row) and fleet.since[row] != now:
            empty_since(run, row, now)
    clock.next_instant = next_instant(run)
    return REACHED


def _decide(address, now):
    """Process an instant if anything happens then; return POLICY_DUE, FULL, REACHED, or CHECK_DUE without an effect."""
    run = opened(address)
    counts, clock = run.queues.counts[0], run.queues.clock[0]
    if clock.next_check <= now:
        return CHECK_DUE
    queues, status = run.queues, REACHED
    submission = counts.submitted < len(queues.submit) and queues.submit[counts.submitted] <= now
    if (
        submission
        or min(clock.decision_due, clock.next_poll, clock.open_instant) <= now
        or counts.changed > 0
        or counts.expired > 0
    ):
        status = _decide_at(address, now)
    clock.next_instant = next_instant(run)
    return REACHED if status == PAUSED else status


def _waiting(address, rows):
    """Write the waiting jobs to `rows`, kind by kind; return their number."""
    queues, count = opened(address).queues, 0
    for place in range(queues.counts[0].waiting_kinds):
        job = queues.head[queues.waiting_kinds[place]]
        while job != NONE:
            rows[count] = job
            count += 1
            job = queues.next_job[job]
    return count


def _act(address, delays, boots, due):
    """Launch missing instances, with `delays` and `boots`, and end unneeded idle ones; return the launches."""
    run = opened(address)
    fleet, counts, clock, made = run.fleet, run.queues.counts[0], run.queues.clock[0], 0
    now = clock.now
    for of in range(len(fleet.top)):
        while (
            fleet.starting[of] + fleet.up[of] < fleet.wanted[of]
            and rows_left(run, of) > 0
            and made < len(delays)
        ):
            launch(run, of, delays[made], boots[made], now)
            made += 1
        trim(address, of, now)
    counts.decision_open, clock.decision_due = 0, due
    note_decision(run)
    clock.next_instant = next_instant(run)
    return made


def _poll(address, now):
    """Schedule a poll, as another load lacks cores; return 0."""
    run = opened(address)
    poll_soon(run, now)
    run.queues.clock[0].next_instant = next_instant(run)
    return 0


def _horizon(address):
    """Return the next instant if other parts share the instances, otherwise the next periodic decision, s."""
    run = opened(address)
    counts, clock = run.queues.counts[0], run.queues.clock[0]
    if not _goes_on(run):
        return np.inf
    following = clock.next_instant if counts.shared != 0 else clock.decision_due
    return min(following, clock.next_check) if counts.kept != 0 else following


def _ended(address):
    """Return whether all jobs have ended."""
    queues = opened(address).queues
    return np.int64(queues.counts[0].ended == len(queues.submit))


_AT = types.int64(types.int64, types.float64)
RUN = Kernel(_run, types.int64(types.int64, types.float64, types.int64), allocates=False)
ALTER = Kernel(_alter, _AT, allocates=False)
SETTLE = Kernel(_settle, _AT, allocates=False)
DECIDE = Kernel(_decide, _AT, allocates=False)
WAITING_ROWS = Kernel(_waiting, types.int64(types.int64, types.int64[::1]), allocates=False)
ACT = Kernel(
    _act, types.int64(types.int64, types.float64[::1], types.uint8[::1], types.float64), allocates=False
)
HORIZON = Kernel(_horizon, types.float64(types.int64), allocates=False)
POLL = Kernel(_poll, _AT, allocates=False)
ENDED = Kernel(_ended, types.int64(types.int64), allocates=False)
KERNELS = (RUN, ALTER, SETTLE, DECIDE, HORIZON, ENDED, POLL, WAITING_ROWS, ACT)
