"""Late binding: reservations in the queue of a worker; each takes the next task of its job, if one is left."""

from __future__ import annotations

from windlass.jit import inlined
from windlass.sim.workers.starting import begin, note_start
from windlass.sim.workers.state import NEVER, NONE


@inlined
def _take_task(state, node):
    """Bind the next task of a reservation's job to it and return the task, or NONE if none is left."""
    job = state.job[node // state.settings[0].copies]
    task = state.next_task[job]
    if task == state.end_task[job]:
        return NONE
    state.next_task[job] = task + 1
    state.bound[node] = task
    return task


@inlined
def begin_late(state, worker, node, now):
    """Start a reservation now, and return when its task will end; NEVER if its job has no task left."""
    task = state.bound[node]
    if task == NONE:
        task = _take_task(state, node)
        if task == NONE:
            return NEVER
        now += state.settings[0].fetch_delay
    note_start(state, worker, task, now)
    return begin(state, worker, node, state.work[task], now)
