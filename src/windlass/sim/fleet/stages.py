"""Events of jobs and stages: a job arrives, a stage becomes ready, a task ends, slots and links change."""

from __future__ import annotations

from windlass.jit import inlined, lean
from windlass.place.functions.in_place import CLOSE, shuffle_in_place


@inlined
def stages_coming(state, now):
    """Return the number of stages of the jobs that arrive until now."""
    first = job = state.run[0].submitted
    while state.jobs[job].submit <= now:
        job += 1
    return state.jobs[job].stage0 - state.jobs[first].stage0


@lean
def enter(state, job, now):
    """Admit an arriving job: its stages get rows in the tables, and those that read its input become ready."""
    run = state.run[0]
    for number in range(state.jobs[job].stage0, state.jobs[job + 1].stage0):
        row = state.rows[run.rows].free
        run.rows += 1
        stage = state.stages[number]
        stage.row, state.rows[row].stage = row, number
        for site in range(len(state.sites)):
            cell = state.cells[row, site]
            cell.left, cell.started, cell.running, cell.plan, cell.data = 0, 0, 0, -1, 0.0
        if stage.shuffles == 0:
            for number_of_part in range(stage.part0, state.stages[number + 1].part0):
                part = state.parts[number_of_part]
                cell = state.cells[row, part.site]
                cell.left, cell.coming = state.parts[number_of_part + 1].task0 - part.task0, part.task0
            make_ready(state, now, number)


@inlined
def insert_waiting(state, number):
    """List a stage as waiting in order of jobs, then stages: stages of later jobs may have become ready before it."""
    run = state.run[0]
    place = run.waits
    while place > 0 and state.rows[place - 1].wait > number:
        state.rows[place].wait = state.rows[place - 1].wait
        place -= 1
    state.rows[place].wait = number
    run.waits += 1


@lean
def make_ready(state, now, number):
    """Mark a stage as ready, because all of its input exists."""
    run, stage = state.run[0], state.stages[number]
    stage.ready = 1
    stage.waiting = stage.tasks
    stage.since = now
    run.wanted = run.moved = 1
    if run.standing == 0:
        return
    insert_waiting(state, number)
    if stage.shuffles != 0:
        settle_shuffle(state, stage)
    for site in range(len(state.sites)):
        run.subjobs += state.cells[stage.row, site].left > 0


@lean
def settle_shuffle(state, stage):
    """Assign the tasks of a shuffle that have not begun to sites."""
    for site in range(len(state.sites)):
        cell = state.cells[stage.row, site]
        state.share[site], state.rest[site] = cell.data, state.sites[site].slots
        state.begun[site] = cell.started
    shuffle_in_place(state.share, state.rest, stage.tasks, state.begun, stage.waiting, CLOSE, state.want)
    for site in range(len(state.sites)):
        state.cells[stage.row, site].left = state.want[site]


@inlined
def end_task(state, now, site, number):
    """End a task: free its slot and store its output at the site."""
    run, task = state.run[0], state.tasks[number]
    state.sites[site].free += 1
    task.computed = now
    stage = state.stages[task.stage]
    stage.done += 1
    run.wanted = 1
    if run.standing == 0:
        state.cells[stage.row, site].running -= 1
    if run.by_seconds != 0:
        job = state.jobs[stage.job]
        job.seconds += task.duration
        stage.seconds += task.duration
        job.tasks += 1.0
        run.all_seconds += task.duration
        run.all_tasks += 1.0
    ended = stage.done == stage.tasks
    if ended or stage.child0 < state.stages[task.stage + 1].child0:
        leave_output(state, now, site, number, ended)


@lean
def leave_output(state, now, site, number, ended):
    """Add a task's output to its site; if its stage ended, mark stages as ready that waited only for it."""
    task = state.tasks[number]
    stage = state.stages[task.stage]
    read = stage.task_bytes
    if stage.shuffles != 0:
        read = 0.0
        for x in range(len(state.sites)):
            read += state.cells[stage.row, x].data
        read = read * task.size / stage.tasks
    for place in range(stage.child0, state.stages[task.stage + 1].child0):
        child = state.stages[state.children[place]]
        state.cells[child.row, site].data += read * stage.ratio
        if ended:
            child.parents_left -= 1
            if child.parents_left == 0:
                make_ready(state, now, state.children[place])
    if ended:
        end_stage(state, now, stage.job)


@lean
def end_stage(state, now, number):
    """Count the end of a stage of a job; with its last stage, end the job."""
    run, job = state.run[0], state.jobs[number]
    job.stages_left -= 1
    if job.stages_left == 0:
        job.end = now
        run.ended += 1
        run.moved = 1
        for own in range(job.stage0, state.jobs[number + 1].stage0):
            run.rows -= 1
            state.rows[run.rows].free = state.stages[own].row


@inlined
def change_site(state, now):
    """Apply the next change of the timetable."""
    run = state.run[0]
    change = state.changes[run.changes]
    site = state.sites[change.site]
    if run.bound == 0:
        run.closed += (change.slots == 0) - (site.slots == 0)
        site.free += change.slots - site.slots
        site.slots = change.slots
        state.slots[change.site] = max(change.slots, 1)
    site.up, site.down = change.up, change.down
    run.changes += 1
    run.wanted = run.resources = run.moved = 1
    if run.flows > 0:
        run.look = now
