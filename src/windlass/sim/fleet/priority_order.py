"""A standing order of jobs: the input of policies, the validation of their order, and its execution until the next."""

from __future__ import annotations

from windlass.jit import inlined, lean
from windlass.sim.events.heap import push
from windlass.sim.fleet.cores import note_start
from windlass.sim.fleet.reads import begin_reading, can_read, task_at
from windlass.sim.fleet.stages import settle_shuffle


@inlined
def close_ranks(state):
    """Drop stages without waiting tasks, keep the order of the others; after a change of slots, reassign shuffles."""
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
    """Return the expected compute time of a job's task, s: the mean of its finished tasks, else of all, else 1 s."""
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
    """Return whether a compiled policy's result is an order of all jobs.

    Orders of Python policies are checked before. :func:`expand_order` uses the numbers as indices of rows.
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
    """Replace a valid order of jobs by the order of their stages' rows."""
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
def occupy_slots(run, stage, data_cell, run_cell, site, tasks):
    """Let tasks of a stage occupy slots of a site; the cells are those of the sites of their input and of the slots."""
    data_cell.coming += tasks
    data_cell.left -= tasks
    run.subjobs -= data_cell.left == 0
    run_cell.started += tasks
    stage.waiting -= tasks
    stage.begun += tasks
    site.free -= tasks


@inlined
def serve(state, first, last, now):
    """Start tasks on the idle slots of some sites, of the first jobs in the order that have waiting tasks there."""
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
                    # A link that it needs is down, so try the next stage in the order.
                    site.position = place + 1
                continue
            begin = cell.coming if homes else stage.first + stage.begun
            occupy_slots(run, stage, cell, cell, site, tasks)
            for offset in range(tasks):
                number_of_task = task_at(state, stage, begin + offset)
                task = state.tasks[number_of_task]
                task.site, task.source = number, -1 if shuffles else number
                task.begun = task.read = now
                note_start(state, number_of_task)
                push(state.heap, now + task.duration, number, number_of_task)


@lean
def start_reading(state, which, data_site, source, number, tasks, now):
    """Start tasks that read from other sites; return False if a link that they need is missing."""
    run, stage, site = state.run[0], state.stages[which], state.sites[number]
    cell = state.cells[stage.row, data_site]
    begin = cell.coming if run.homes != 0 and source >= 0 else stage.first + stage.begun
    if not can_read(state, stage, begin, tasks, source, number):
        return False
    if min(len(state.batches) - run.batches, len(state.flows) - run.flows) < len(state.sites):
        run.short = 1
        return True
    occupy_slots(run, stage, cell, state.cells[stage.row, number], site, tasks)
    for place in range(begin, begin + tasks):
        number_of_task = task_at(state, stage, place)
        task = state.tasks[number_of_task]
        task.site, task.source, task.begun = number, source, now
        note_start(state, number_of_task)
    begin_reading(state, now, which, number, tasks, begin, 0, source)
    return True


@lean
def serve_elsewhere(state, now):
    """Start the tasks of each site without slots at the site with the most idle ones, in the order of the jobs."""
    run = state.run[0]
    for data_site in range(len(state.sites)):
        if state.sites[data_site].slots > 0:
            continue
        line = data_site if run.orders > 1 else 0
        for place in range(run.waits):
            row = state.order[line, place]
            number = 0
            for other in range(1, len(state.sites)):
                if state.sites[other].free > state.sites[number].free:
                    number = other
            tasks = min(state.cells[row, data_site].left, state.sites[number].free)
            if tasks > 0:
                which = state.rows[row].stage
                source = -1 if state.stages[which].shuffles != 0 else data_site
                start_reading(state, which, data_site, source, number, tasks, now)
            if run.short != 0:
                return
