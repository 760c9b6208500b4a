"""The log: queue lengths and completions that schedulers learn of once the probe delay has passed, as a ring."""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined
from windlass.sim.workers.state import NONE

#: More entries than the events of one step can add.
_ROOM = 8


@inlined
def _new_entry(state, now):
    """Add an entry, due after the probe delay, and return its place."""
    progress = state.progress[0]
    place = (progress.log_first + progress.log_size) % len(state.log)
    state.log[place].time = now + state.settings[0].probe_delay
    progress.log_size += 1
    return place


@inlined
def note_length(state, worker, now):
    """Log the length of a worker's queue, if probes take time."""
    if state.settings[0].probe_delay > 0.0:
        entry = state.log[_new_entry(state, now)]
        entry.worker = worker
        entry.length = state.length[worker]
        entry.sender = entry.sent_by = NONE


@inlined
def note_sent(state, worker, scheduler, now):
    """Log the length of a worker's queue, which a task of a scheduler has made longer."""
    if state.settings[0].probe_delay > 0.0:
        entry = state.log[_new_entry(state, now)]
        entry.worker = worker
        entry.length = state.length[worker]
        entry.sender = NONE
        entry.sent_by = scheduler
        if state.settings[0].count_sent != 0:
            state.seen_length[scheduler, worker] += 1


@inlined
def reveal_length(state, worker, length, sent_by):
    """Let schedulers know the length of a worker's queue."""
    if state.settings[0].count_sent != 0:
        change = length - state.known_length[worker]
        for scheduler in range(len(state.seen_length)):
            state.seen_length[scheduler, worker] += change
        if sent_by != NONE:
            # The length includes this task.
            state.seen_length[sent_by, worker] -= 1
    state.known_length[worker] = length


@inlined
def count_unbound(state, scheduler, change, now):
    """Change the number of a scheduler's unbound tasks, and log it for the other schedulers."""
    progress = state.progress[0]
    state.unbound[scheduler] += change
    progress.unbound += change
    if state.settings[0].probe_delay > 0.0 and len(state.ints) > 1:
        entry = state.log[_new_entry(state, now)]
        entry.worker = NONE
        entry.length = state.unbound[scheduler]
        entry.sender = scheduler


@inlined
def unbound_elsewhere(state, scheduler):
    """Return how many unbound tasks the other schedulers have, as this one knows it."""
    progress = state.progress[0]
    if state.settings[0].probe_delay > 0.0:
        return progress.known_unbound - state.known_unbound[scheduler]
    return progress.unbound - state.unbound[scheduler]


@inlined
def reveal_unbound(state, scheduler, number):
    """Let the other schedulers know a scheduler's number of unbound tasks."""
    state.progress[0].known_unbound += number - state.known_unbound[scheduler]
    state.known_unbound[scheduler] = number


@inlined
def note_completion(state, worker, sender, work, seconds, now):
    """Log a completion for the schedulers other than its sender."""
    entry = state.log[_new_entry(state, now)]
    entry.worker = worker
    entry.sender = sender
    entry.work = work
    entry.seconds = seconds


@inlined
def next_time(state):
    """Return when the first entry is due, s; infinity if there is none."""
    progress = state.progress[0]
    return state.log[progress.log_first].time if progress.log_size > 0 else np.inf


@inlined
def is_full(state):
    """Return whether the next step may need more entries than are free."""
    # A step may take all waiting tasks.
    return state.progress[0].log_size + state.progress[0].unbound + _ROOM > len(state.log)


@inlined
def take_entry(state):
    """Remove the first entry and return its place; the entry is valid until another is added."""
    progress = state.progress[0]
    place = progress.log_first
    progress.log_first = (place + 1) % len(state.log)
    progress.log_size -= 1
    return place
