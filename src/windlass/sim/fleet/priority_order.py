"""A standing order: jobs as policies see them, the validation of the order, and slots served by it until the next."""

from __future__ import annotations

from windlass.jit import inlined, lean
from windlass.sim.events.heap import push
from windlass.sim.fleet.reads import begin_reading, can_read, task_at
from windlass.sim.fleet.stages import settle_shuffle


@inlined
def close_ranks(state):
    """Drop stages with nothing left to start; the others keep their order. If slots came or went, settle shuffles."""
    run = state.run[0]
    kept = 0
    for place in range(run.waits):
        number = state.rows[place].wait
        stage = state.stages[number]
        if stage.waiting > 0:
            state.rows[kept].wait = number
            kept += 1
            if run.resources != 0 and stage.shuffles != 0:
                for site in range(len(state.sites)):
                    run.subjobs -= state.cells[stage.row, site].left > 0
                settle_shuffle(state, stage)
                for site in range(len(state.sites)):
                    run.subjobs += state.cells[stage.row, site].left > 0
    run.waits = kept
    run.resources = 0


@inlined
def expected_seconds(run, job):
    """What a task of this job is expected to take, s: the mean of its finished ones, or else of all finished ones."""
    seconds = 1.0
    if job.tasks > 0.0:
        seconds = job.seconds / job.tasks
    elif run.all_tasks > 0.0:
        seconds = run.all_seconds / run.all_tasks
    return seconds * job.error


@lean
def size_up(state):
    """Write the input of policies: the tasks that each job has left to start at each site; the backlog."""
    run, n = state.run[0], len(state.sites)
    groups, last = 0, -1
    for place in range(run.waits):
        stage = state.stages[state.rows[place].wait]
        each = expected_seconds(run, state.jobs[stage.job]) if run.by_seconds != 0 else 1.0
        if stage.job != last:
            state.rows[groups].job, state.rows[groups].group0 = stage.job, place
            for site in range(n):
                state.sized[groups, site] = state.cells[stage.row, site].left * each
            groups, last = groups + 1, stage.job
        else:
            for site in range(n):
                state.sized[groups - 1, site] += state.cells[stage.row, site].left * each
    run.groups = groups
    state.rows[groups].group0 = run.waits
    for site in range(n):
        state.backlog[site] = state.sites[site].slots - state.sites[site].free
        state.sites[site].position = 0


@lean
def is_order(state):
    """Return whether a compiled policy's result is an order of all jobs; orders from Python are checked before.

    Any other result must not be expanded, as its numbers are rows.
    """
    run = state.run[0]
    if run.orders != 1 and run.orders != len(state.sites):
        return False
    for group in range(run.groups):
        state.rows[group].seen = 0
    for number in range(run.orders):
        for place in range(run.groups):
            group = state.order[number, place]
            if group < 0 or group >= run.groups or state.rows[group].seen != number:
                return False
            state.rows[group].seen = number + 1
    return True


@lean
def expand_order(state):
    """Make the order of jobs, which is one, an order of the rows of their stages."""
    run = state.run[0]
    for number in range(run.orders):
        for place in range(run.groups):
            state.rows[place].seen = state.order[number, place]
        target = 0
        for place in range(run.groups):
            group = state.rows[place].seen
            for wait in range(state.rows[group].group0, state.rows[group + 1].group0):
                state.order[number, target] = state.stages[state.rows[wait].wait].row
                target += 1


@inlined
def take(run, stage, lies, runs, site, tasks):
    """Tasks of a stage that lie at one site take slots of a site: the same, or another; cells of both."""
    lies.coming += tasks
    lies.left -= tasks
    run.subjobs -= lies.left == 0
    runs.started += tasks
    stage.waiting -= tasks
    stage.begun += tasks
    site.free -= tasks


@inlined
def serve(state, first, last, now):
    """Start tasks on the idle slots of some sites: of the first jobs in the order that have some left there."""
    run = state.run[0]
    homes = run.homes != 0
    for number in range(first, last):
        site = state.sites[number]
        line = number if run.orders > 1 else 0
        while site.free > 0 and run.short == 0:
            place = site.position
            while place < run.waits and state.cells[state.order[line, place], number].left == 0:
                place += 1
            site.position = place
            if place >= run.waits:
                break
            row = state.order[line, place]
            which = state.rows[row].stage
            stage, cell = state.stages[which], state.cells[row, number]
            tasks = min(site.free, cell.left)
            shuffles = stage.shuffles != 0
            if shuffles and run.linked != 0:
                if not start_reading(state, which, number, -1, number, tasks, now):
                    # Its link is gone for now; the next in the order may go on.
                    site.position = place + 1
                continue
            begin = cell.coming if homes else stage.first + stage.begun
            take(run, stage, cell, cell, site, tasks)
            for offset in range(tasks):
                number_of_task = begin + offset if homes else task_at(state, stage, begin + offset)
                task = state.tasks[number_of_task]
                task.site, task.source = number, -1 if shuffles else number
                task.begun = task.read = now
                push(state.heap, now + task.duration, number, number_of_task)


@lean
def start_reading(state, which, lies, source, number, tasks, now):
    """Start tasks that read from other sites; whether the links that they need are there."""
    run, stage, site = state.run[0], state.stages[which], state.sites[number]
    cell = state.cells[stage.row, lies]
    begin = cell.coming if run.homes != 0 and source >= 0 else stage.first + stage.begun
    if not can_read(state, stage, begin, tasks, source, number):
        return False
    if min(len(state.batches) - run.batches, len(state.flows) - run.flows) < len(state.sites):
        run.short = 1
        return True
    take(run, stage, cell, state.cells[stage.row, number], site, tasks)
    for place in range(begin, begin + tasks):
        task = state.tasks[task_at(state, stage, place)]
        task.site, task.source, task.begun = number, source, now
    begin_reading(state, now, which, number, tasks, begin, 0, source)
    return True


@lean
def serve_elsewhere(state, now):
    """Where a site with input has no slots, its tasks run at the site with the most idle ones, job by job in order."""
    run = state.run[0]
    for lies in range(len(state.sites)):
        if state.sites[lies].slots > 0:
            continue
        line = lies if run.orders > 1 else 0
        for place in range(run.waits):
            row = state.order[line, place]
            number = 0
            for other in range(1, len(state.sites)):
                if state.sites[other].free > state.sites[number].free:
                    number = other
            tasks = min(state.cells[row, lies].left, state.sites[number].free)
            if tasks > 0:
                which = state.rows[row].stage
                source = -1 if state.stages[which].shuffles != 0 else lies
                start_reading(state, which, lies, source, number, tasks, now)
            if run.short != 0:
                return
