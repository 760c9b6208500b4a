"""The start of a task on a worker."""

from __future__ import annotations

from windlass.jit import index, inlined


@inlined
def begin(state, worker, node, work, now):
    """Start a node now, and return when it will end."""
    line = state.line[index(worker)]
    line.running = node
    line.work_left = work
    line.since = line.started = now
    return now + work / line.speed


@inlined
def sender_of(state, task):
    """Return the scheduler of a task."""
    return state.sender[task] if len(state.ints) > 1 else 0


@inlined
def note_start(state, worker, task, now):
    """Store when and where a task starts, if that is recorded."""
    if state.settings[0].record != 0:
        state.start[task] = now
        state.worker[task] = worker
