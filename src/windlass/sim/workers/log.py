"""What schedulers will see once the probe delay has passed: a ring of queue lengths and completions."""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined
from windlass.sim.workers import slots
from windlass.sim.workers.state import NOBODY

#: Entries that the events of one step may add, with some to spare.
_ROOM = 8


@inlined
def _next_entry(state, now):
    """A new entry at the end of the ring, to be seen after the delay; its place."""
    slot = (state.counts[slots.LOG_FIRST] + state.counts[slots.LOG_SIZE]) % len(state.log_time)
    state.log_time[slot] = now + state.clock[slots.DELAY]
    state.counts[slots.LOG_SIZE] += 1
    return slot


@inlined
def note_length(state, worker, now):
    """Let schedulers see a worker's queue length, once the probe delay has passed."""
    if state.clock[slots.DELAY] > 0.0:
        slot = _next_entry(state, now)
        state.log_item[slot, 0] = worker
        state.log_item[slot, 1] = state.length[worker]
        state.log_item[slot, 2] = NOBODY


@inlined
def note_completion(state, worker, sender, work, seconds, now):
    """Let the other schedulers hear of a completion, once the probe delay has passed."""
    slot = _next_entry(state, now)
    state.log_item[slot, 0] = worker
    state.log_item[slot, 2] = sender
    state.log_value[slot, 0] = work
    state.log_value[slot, 1] = seconds


@inlined
def next_seen(state):
    """When the next entry is seen, s; infinity where there is none."""
    return state.log_time[state.counts[slots.LOG_FIRST]] if state.counts[slots.LOG_SIZE] > 0 else np.inf


@inlined
def is_full(state):
    """Whether the next step might find no room."""
    return state.counts[slots.LOG_SIZE] + _ROOM > len(state.log_time)


@inlined
def take_entry(state):
    """Take the entry that is seen now out of the ring; its place."""
    slot = state.counts[slots.LOG_FIRST]
    state.counts[slots.LOG_FIRST] = (slot + 1) % len(state.log_time)
    state.counts[slots.LOG_SIZE] -= 1
    return slot
