"""The compiled loop of jobs over a fleet, which runs until a decision outside the loop is due.

At each instant it first processes all events: changes of the timetable, ends of tasks in the order in which they began
to compute, reads, arrivals. Then, under a standing order, it orders the jobs once if jobs arrived or departed or a
stage became ready, and starts tasks on idle slots. Otherwise a placement is due, at most once every ``decide_every``.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.jit import Kernel, inlined, lean
from windlass.sim.events.heap import next_time, pop
from windlass.sim.fleet.cores import give_core, hold_cores, match_slots
from windlass.sim.fleet.priority_order import (
    close_ranks,
    expand_order,
    is_order,
    serve,
    serve_elsewhere,
    size_up,
)
from windlass.sim.fleet.reads import refresh_links
from windlass.sim.fleet.stages import change_site, end_task, enter, stages_coming
from windlass.sim.fleet.state import FLEET_RUN
from windlass.sim.handle import opening
from windlass.sim.status import ALL_DONE, FIRST_OWN, FULL, PAUSED, POLICY_DUE, REACHED

#: Further status of :func:`_run`: the compiled policy did not return an order of the jobs.
NO_ORDER = FIRST_OWN

_opened = opening(FLEET_RUN)


@inlined
def _logs_full(state):
    run = state.run[0]
    spare = len(state.flow_log) - run.logged
    return spare < run.flows + 1 or len(state.rate_log) - run.rates < state.weight.size


@inlined
def _next_instant(state):
    """Return the time of the next event, s; infinity if there is none."""
    run = state.run[0]
    if run.flows_new:
        run.look = run.looked + run.look_every
    left = run.changes < len(state.changes) and run.ended < len(state.jobs) - 1
    change = state.changes[run.changes].time if left else np.inf
    return min(state.jobs[run.submitted].submit, change, next_time(state.heap), run.look, run.wake)


@inlined
def _order_due(state):
    """Update the sizes of waiting jobs, if they changed; return whether there are any to reorder."""
    run = state.run[0]
    due = False
    if run.moved != 0:
        run.moved = 0
        close_ranks(state)
        # On a ledger, a change of slots makes an order due again.
        due = run.waits > 0 and (run.bound == 0 or run.closed < len(state.sites))
    if due:
        size_up(state)
        run.decisions += 1
        run.jobs_reported += run.groups
        run.subjobs_reported += run.subjobs
    return due


@inlined
def _end_tasks(state, nodes, now):
    """End the tasks that have computed until now; return their number, and the site of the last one."""
    ended, site = 0, 0
    while next_time(state.heap) <= now:
        _, site, task = pop(state.heap)
        end_task(state, now, site, task)
        if state.run[0].bound != 0:
            give_core(state, nodes, task)
            match_slots(state, nodes, site)
        ended += 1
    return ended, site


@lean
def _end_ahead(state, nodes, now):
    """End the tasks that end now, before other parts change cores; the rest of the instant follows."""
    run = state.run[0]
    ended, site = _end_tasks(state, nodes, now)
    run.again, run.now = 1, now
    run.ahead += ended
    run.ahead_site = site


def _run(address, until, events):
    """Process instants before `until`, at most `events` events, or up to the next decision; return a status.

    On a ledger, tasks that end at `until` end as well.
    """
    whole = _opened(address)
    state, nodes = whole.state, whole.nodes
    run, n = state.run[0], len(state.sites)
    if run.due != 0:
        return POLICY_DUE
    jobs = len(state.jobs) - 1
    standing = run.standing != 0
    first = last = 0
    if run.answered != 0 or run.short != 0:
        last = n
    if run.answered != 0:
        # The engine has validated the order before it set this flag.
        expand_order(state)
    run.answered = run.short = 0
    while True:
        if first < last:
            serve(state, first, last, run.now)
            if run.closed != 0 and run.linked != 0:
                serve_elsewhere(state, run.now)
            if run.begins != 0:
                hold_cores(state, nodes)
            if run.short != 0:
                return FULL
            last = 0
        if events <= 0:
            return PAUSED
        if run.logs != 0 and _logs_full(state):
            return FULL
        now = _next_instant(state)
        if run.again != 0:
            now = min(now, run.now)
        elif run.wanted != 0 and not standing:
            due = max(run.decided + run.decide_every, run.now)
            if due <= now and due < until:
                run.now = due
                return POLICY_DUE
            now = min(now, due)
        if now >= until:
            ends = run.bound != 0 and run.deciding == 0 and until < np.inf
            if ends and next_time(state.heap) <= until:
                _end_ahead(state, nodes, until)
            # No decision is due before the minimum time between decisions is over.
            run.next = max(now, run.decided + run.decide_every)
            return ALL_DONE if run.ended == jobs else REACHED
        now = max(now, run.now)
        if state.jobs[run.submitted].submit <= now and run.rows + stages_coming(state, now) > len(
            state.cells
        ):
            return FULL
        run.now, run.again = now, 0
        if run.wake <= now:
            run.wake = np.inf
            run.wanted = 1
        while run.changes < len(state.changes) and state.changes[run.changes].time <= now:
            change_site(state, now)
        ended, first = _end_tasks(state, nodes, now)
        if run.ahead != 0:
            ended += run.ahead
            first, run.ahead = run.ahead_site, 0
        if run.look <= now:
            refresh_links(state, now)
        while state.jobs[run.submitted].submit <= now:
            enter(state, run.submitted, now)
            run.submitted += 1
            events -= 1
        events -= max(ended, 1)
        if standing:
            if _order_due(state):
                if run.python != 0:
                    return POLICY_DUE
                sizes = state.sized[: run.groups]
                orders = whole.select(sizes, state.slots, state.backlog, whole.options, state.order)
                run.orders = whole.refine(sizes, state.slots, state.no_backlog, orders, state.order)
                if not is_order(state):
                    return NO_ORDER
                expand_order(state)
                first, last = 0, n
            elif ended == 1:
                last = first + 1
            elif ended > 1:
                first, last = 0, n


RUN = Kernel(_run, types.int64(types.int64, types.float64, types.int64), allocates=False)
