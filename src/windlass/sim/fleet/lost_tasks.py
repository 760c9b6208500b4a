"""Requeueing of tasks whose row is vacated; their work is lost."""

from __future__ import annotations

from windlass.jit import inlined, lean
from windlass.sim.events.heap import remove
from windlass.sim.fleet.cores import give_core
from windlass.sim.fleet.reads import log_flow, task_at
from windlass.sim.fleet.stages import insert_waiting


@lean
def lose_task(state, nodes, number, now):
    """Stop a task, log the attempt, and requeue the task; the caller ensures room in ``lost_log``."""
    run, task = state.run[0], state.tasks[number]
    line = state.lost_log[run.lost]
    line[0], line[1], line[2], line[3], line[4] = number, task.site, state.cores[number].row, task.begun, now
    run.lost += 1
    if state.cores[number].batch >= 0:
        _leave_batch(state, now, number)
    else:
        remove(state.heap, number)
    give_core(state, nodes, number)
    state.sites[task.site].free += 1
    _wait_again(state, number)
    run.wanted = run.resources = run.moved = 1


@inlined
def _wait_again(state, number):
    """Undo a task's start, and make it the next of its stage to start."""
    run, task = state.run[0], state.tasks[number]
    which = task.stage
    stage = state.stages[which]
    own = state.cells[stage.row, task.site]
    home = task.source if task.source >= 0 else task.site
    cell = state.cells[stage.row, home]
    end = cell.coming if run.homes != 0 and task.source >= 0 else stage.first + stage.begun
    place = end - 1
    while task_at(state, stage, place) != number:
        place -= 1
    last = state.cores[end - 1].at
    state.cores[end - 1].at, state.cores[place].at = state.cores[place].at, last
    stage.begun -= 1
    stage.waiting += 1
    own.started -= 1
    if run.standing == 0:
        own.running -= 1
        cell.left += task.source >= 0
        return
    # The tasks of a shuffle are assigned to sites anew before the next order.
    cell.coming -= 1
    cell.left += 1
    run.subjobs += cell.left == 1
    place = 0
    while place < run.waits and state.rows[place].wait != which:
        place += 1
    if place == run.waits:
        insert_waiting(state, which)


@lean
def _leave_batch(state, now, number):
    """Remove a task from the group of tasks that read together, and cancel its unsent bytes."""
    run, which = state.run[0], state.cores[number].batch
    batch = state.batches[which]
    _unchain(state, batch, number)
    batch.left -= 1
    site = batch.site
    job = state.jobs[state.stages[batch.stage].job]
    for source in range(len(state.sites)):
        before, own = -1, state.head[source, site]
        while own >= 0 and state.flows[own].batch != which:
            before, own = own, state.flows[own].after
        if own < 0:
            continue
        flow = state.flows[own]
        reached = state.progress[source, site] + state.rate[source, site] * (now - run.looked)
        unsent = min(max(flow.ends - reached, 0.0), flow.each)
        flow.carried -= unsent
        state.carried[source, site] -= unsent
        job.sent -= unsent
        state.weight[source, site] -= 1.0
        run.flows_new = 1
        if batch.left == 0:
            _drop_flow(state, now, source, site, before, own)
    if batch.left == 0:
        run.batches -= 1
        state.batches[run.batches].free = which


@inlined
def _unchain(state, batch, number):
    """Take a task out of the chain of its batch."""
    core = state.cores[number]
    if batch.head == number:
        batch.head = core.after
    else:
        before = batch.head
        while state.cores[before].after != number:
            before = state.cores[before].after
        state.cores[before].after = core.after
    core.batch = -1


@inlined
def _drop_flow(state, now, source, site, before, number):
    """Remove a flow that carries nothing more; `before` is the one before it in its pair, or -1."""
    run = state.run[0]
    following = state.flows[number].after
    if before < 0:
        state.head[source, site] = following
    else:
        state.flows[before].after = following
    if run.logs:
        log_flow(state, number, source, site, now)
    if state.head[source, site] < 0:
        state.weight[source, site] = state.progress[source, site] = state.rate[source, site] = 0.0
    run.flows -= 1
    state.flows[run.flows].free = number
