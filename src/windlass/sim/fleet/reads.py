"""Reading of input: batches of tasks, flows between sites, and updates of the links that all flows share."""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined, lean
from windlass.sim.events.heap import push
from windlass.sim.links import share_links


@inlined
def task_at(state, stage, place):
    """Return the task at a place in the order in which a stage's tasks begin."""
    own = np.int64(state.cores[place].at) if len(state.cores) > 0 else place
    return state.by_size[own] if stage.largest != 0 and len(state.by_size) > 0 else own


@lean
def carried_by(state, stage, first, tasks, source):
    """Return the bytes that tasks, from a place of a stage's order on, read from a site."""
    if stage.shuffles == 0:
        return tasks * stage.task_bytes
    sizes = 0.0
    for place in range(first, first + tasks):
        sizes += state.tasks[task_at(state, stage, place)].size
    return state.cells[stage.row, source].data * sizes / stage.tasks


@inlined
def has_link(state, source, site):
    """Return whether data can be sent from one site to another."""
    return state.sites[source].up > 0.0 and state.sites[site].down > 0.0 and state.most[source, site] > 0.0


@lean
def can_read(state, stage, first, tasks, source, site):
    """Return whether all links that tasks at a site need exist; ``source`` is -1 if they read from all sites."""
    if state.run[0].linked == 0:
        return True
    if stage.shuffles == 0:
        return source == site or stage.task_bytes <= 0.0 or has_link(state, source, site)
    for x in range(len(state.sites)):
        if x != site and carried_by(state, stage, first, tasks, x) > 0.0 and not has_link(state, x, site):
            return False
    return True


@lean
def begin_reading(state, now, number, site, tasks, first, is_move, source):
    """Start the read of a batch of tasks or of a move (``source`` -1: from all sites); if it reads nothing, end it."""
    run, stage = state.run[0], state.stages[number]
    which = state.batches[run.batches].free
    run.batches += 1
    batch = state.batches[which]
    batch.stage, batch.site, batch.tasks = number, site, tasks
    batch.under_way, batch.first, batch.is_move, batch.left = 0, first, is_move, tasks
    run.moves += is_move != 0
    if len(state.cores) > 0 and not is_move:
        _list_tasks(state, stage, which)
    for x in range(len(state.sites)):
        if x == site or (source >= 0 and x != source) or run.linked == 0:
            continue
        carried = carried_by(state, stage, first, tasks, x)
        if carried > 0.0:
            add_flow(state, now, x, site, which, carried)
    if batch.under_way == 0:
        end_reading(state, now, which)


@lean
def _list_tasks(state, stage, which):
    """Chain the tasks of a batch, of which some may be lost before the others have read."""
    batch, following = state.batches[which], np.int64(-1)
    for place in range(batch.first + batch.tasks - 1, batch.first - 1, -1):
        number = task_at(state, stage, place)
        state.cores[number].batch, state.cores[number].after = which, following
        following = number
    batch.head = following


@lean
def add_flow(state, now, source, site, which, carried):
    """Add the flow of a batch that reads from a site."""
    run, batch = state.run[0], state.batches[which]
    number = state.flows[run.flows].free
    run.flows += 1
    # The flow begins at the next update of the links, until which the other flows of its pair progress.
    wait = max(run.looked + run.look_every, now) - run.looked
    ends = state.progress[source, site] + state.rate[source, site] * wait + carried / batch.tasks
    flow = state.flows[number]
    flow.batch, flow.ends, flow.began = which, ends, now
    flow.each, flow.carried = carried / batch.tasks, carried
    state.weight[source, site] += batch.tasks
    before, after = -1, state.head[source, site]
    while after >= 0 and state.flows[after].ends <= ends:
        before, after = after, state.flows[after].after
    flow.after = after
    if before < 0:
        state.head[source, site] = number
    else:
        state.flows[before].after = number
    batch.under_way += 1
    state.jobs[state.stages[batch.stage].job].sent += carried
    state.carried[source, site] += carried
    run.flows_new = 1


@lean
def end_reading(state, now, which):
    """End the read of a batch: its tasks compute, or, after a move, wait at the new site."""
    run, batch = state.run[0], state.batches[which]
    stage = state.stages[batch.stage]
    run.batches -= 1
    state.batches[run.batches].free = which
    if batch.is_move:
        state.cells[stage.row, batch.site].left += batch.tasks
        stage.waiting += batch.tasks
        run.wanted = 1
        run.moves -= 1
        return
    if len(state.cores) > 0:
        number = batch.head
        while number >= 0:
            core = state.cores[number]
            core.batch = -1
            state.tasks[number].read = now
            push(state.heap, now + state.tasks[number].duration, batch.site, number)
            number = np.int64(core.after)
        return
    for place in range(batch.first, batch.first + batch.tasks):
        number = task_at(state, stage, place)
        state.tasks[number].read = now
        push(state.heap, now + state.tasks[number].duration, batch.site, number)


@inlined
def log_flow(state, number, source, site, ended):
    """Log a flow that ends at ``ended``."""
    flow = state.flows[number]
    line = state.flow_log[state.run[0].logged]
    line[0], line[1], line[2], line[3], line[4] = flow.began, ended, flow.carried, source, site
    line[5] = state.batches[flow.batch].stage
    state.run[0].logged += 1


@lean
def end_flow(state, now, source, site, ended):
    """End the first flow of a pair, which ended at ``ended``; its batch notices this ``now``."""
    run = state.run[0]
    number = state.head[source, site]
    flow = state.flows[number]
    which = flow.batch
    batch = state.batches[which]
    state.head[source, site] = flow.after
    state.weight[source, site] -= batch.left
    if run.logs:
        log_flow(state, number, source, site, ended)
    if state.head[source, site] < 0:
        state.weight[source, site] = 0.0
        state.progress[source, site] = 0.0
    run.flows -= 1
    state.flows[run.flows].free = number
    batch.under_way -= 1
    if batch.under_way == 0:
        end_reading(state, now, which)


@lean
def refresh_links(state, now):
    """Advance all flows until now, end the complete ones, and share the links again."""
    run, n = state.run[0], len(state.sites)
    passed = now - run.looked
    for x in range(n):
        for y in range(n):
            if state.head[x, y] < 0:
                continue
            before = state.progress[x, y]
            reached = before + state.rate[x, y] * passed
            state.progress[x, y] = reached
            while state.head[x, y] >= 0:
                ends = state.flows[state.head[x, y]].ends
                if ends > reached + 1e-9 * (ends + 1.0):
                    break
                rate = state.rate[x, y]
                took = (ends - before) / rate if rate > 0.0 else 0.0
                end_flow(state, now, x, y, min(now, run.looked + max(0.0, took)))
    share_links(state.weight, state.rate, state.most, state.sites, run.limited != 0)
    run.looked = now
    run.flows_new = 0
    soonest = np.inf
    for x in range(n):
        for y in range(n):
            rate = state.rate[x, y]
            if run.logs:
                line = state.rate_log[run.rates]
                line[0], line[1], line[2], line[3] = now, x, y, rate * state.weight[x, y]
                run.rates += 1
            if state.head[x, y] >= 0 and rate > 0.0:
                soonest = min(soonest, (state.flows[state.head[x, y]].ends - state.progress[x, y]) / rate)
    soonest = max(soonest, 0.0)
    then = now + soonest
    if soonest < np.inf and then <= now:
        then = np.nextafter(now, np.inf)
    run.look = max(then, now + run.look_every)
