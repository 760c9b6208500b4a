"""Tasks that all nodes of a site reject and that go to another site, in compiled code.

A task that its home refuses is put into the outbox of the part. At the next instant of the group of parts that spill to
each other, each part delivers its outbox to the targets. The task arrives there `delay` after it was refused, which is
not before that instant, as the parts of a group are due at least once in each `delay`.

At the parts of a group, tasks are numbered in the order of their arrival, own tasks and guests together, so that other
code need not distinguish them. A part's own workload is in ``own_submit`` and ``own_work``.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.jit import Kernel, inlined
from windlass.jit.schema import numba_type
from windlass.sim.handle import opening
from windlass.sim.status import REACHED
from windlass.sim.workers.state import NONE, WorkersRun

_opened = opening(numba_type(WorkersRun))


@inlined
def _next_own(state):
    task = state.progress[0].own_arrived
    return state.own_submit[task] if task < len(state.own_submit) else np.inf


@inlined
def _next_guest(state):
    guest = state.progress[0].guest_head
    return state.guest[guest].time if guest != NONE else np.inf


@inlined
def next_arrival(state):
    """Return when the next own task or guest arrives, s; infinity if none is left."""
    return min(_next_own(state), _next_guest(state))


@inlined
def take_arrival(state):
    """Give the next own task or guest the number of the next arrival; of the same instant, own tasks come first."""
    progress = state.progress[0]
    task = progress.arrived
    if _next_own(state) <= _next_guest(state):
        own = progress.own_arrived
        progress.own_arrived += 1
        state.submit[task], state.work[task] = state.own_submit[own], state.own_work[own]
        state.origin[task] = own
        if len(state.ints) > 1:
            state.sender[task] = state.own_sender[own]
    else:
        place = progress.guest_head
        guest = state.guest[place]
        progress.guest_head = guest.after
        state.submit[task], state.work[task] = guest.time, guest.work
        state.origin[task] = -1 - place
        guest.here = task
        if len(state.ints) > 1:
            state.sender[task] = place % len(state.ints)


@inlined
def send_on(state, task, now):
    """Put a refused task into the outbox, and return whether it has another target."""
    progress, settings = state.progress[0], state.settings[0]
    home, rank, own, place = settings.address, settings.rank, state.origin[task], np.int64(0)
    targets, delay = np.int64(len(state.target)), settings.spill_delay
    if own < 0:
        guest = state.guest[-1 - own]
        home, rank, own, place = guest.home, guest.rank, guest.own, guest.place + 1
        targets, delay = guest.targets, guest.delay
    if place >= targets:
        return False
    out = state.outbox[progress.outgoing]
    out.time, out.delay, out.work = now + delay, delay, state.work[task]
    out.home, out.rank, out.own, out.place, out.targets = home, rank, own, place, targets
    progress.outgoing += 1
    return True


@inlined
def _precedes(guest, out):
    """Return whether a guest arrives before another; those of one instant are ordered by home and number."""
    if guest.time != out.time:
        return guest.time < out.time
    return guest.rank < out.rank if guest.rank != out.rank else guest.own < out.own


@inlined
def _receive(state, out):
    """Add a guest to those that will arrive, in their order."""
    progress = state.progress[0]
    place = progress.guests
    progress.guests += 1
    progress.expected += 1
    guest = state.guest[place]
    guest.time, guest.delay, guest.work = out.time, out.delay, out.work
    guest.home, guest.rank, guest.own = out.home, out.rank, out.own
    guest.place, guest.targets = out.place, out.targets
    guest.here = NONE
    before, following = np.int64(NONE), progress.guest_head
    if following != NONE and _precedes(state.guest[progress.guest_tail], out):
        before, following = progress.guest_tail, np.int64(NONE)
    while following != NONE and _precedes(state.guest[following], out):
        before, following = following, np.int64(state.guest[following].after)
    guest.after = following
    if before == NONE:
        progress.guest_head = place
    else:
        state.guest[before].after = place
    if following == NONE:
        progress.guest_tail = place


def _deliver(address, now):
    """Deliver the refused tasks to their targets; return REACHED."""
    state = _opened(address).state
    progress = state.progress[0]
    progress.instant = now
    for place in range(progress.outgoing):
        out = state.outbox[place]
        home = _opened(out.home).state
        _receive(_opened(home.target[out.place]).state, out)
    # Only now is the task complete here: before, it would belong to no part.
    progress.completed += progress.outgoing
    progress.outgoing = 0
    return REACHED


@inlined
def horizon(state):
    """Return until when the part may run alone, s: what it refuses from now on arrives elsewhere later than that."""
    progress = state.progress[0]
    return progress.instant + state.settings[0].window if progress.completed < progress.expected else np.inf


@inlined
def others_ended(state):
    """Return whether all parts of the group but this one are done with their tasks, so that no guest will come."""
    for place in range(len(state.group)):
        progress = _opened(state.group[place]).state.progress[0]
        if progress.completed < progress.expected:
            return False
    return True


DELIVER = Kernel(_deliver, types.int64(types.int64, types.float64), allocates=False)
