"""Which instance has room for a job: first fit or best fit, as it was set up.

Types are looked at from the smallest to the largest, and rows of each in their order. *First fit* takes the first
instance that has room. *Best fit* takes the one on which the least is left: of GPUs, and where that is equal, of cores,
and then of memory.

A job larger than any instance needs so many whole ones at once, empty, of one type.
"""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined
from windlass.sim.instances.state import BEST, CHANGED, MILLI, N_UP, N_USED, NOBODY, OTHERS, PART, SITE, UP


@inlined
def ledger_row(run, row):
    """The row of the ledger that an instance is."""
    return run.nodes.first[run.queues.counts[SITE]] + row


@inlined
def cores_for(milli):
    """Whole cores that hold so many thousandths."""
    return (milli + MILLI - 1) // MILLI


@inlined
def has_room(run, row, kind):
    """Whether a job of a kind fits on an instance beside those who are there."""
    fleet, queues, nodes = run.fleet, run.queues, run.nodes
    if fleet.stage[row] != UP or fleet.owner[row] != NOBODY:
        return False
    of = fleet.kind[row]
    if queues.welcome[kind, of] == 0:
        return False
    for resource in range(3):
        if fleet.used[row, resource] + queues.vector[kind, resource] > fleet.capacity[of, resource]:
            return False
    if queues.counts[OTHERS] == 0:
        return True
    at = ledger_row(run, row)
    more = cores_for(fleet.used[row, 1] + queues.vector[kind, 1]) - nodes.held[at, queues.counts[PART]]
    return more <= 0 or more <= nodes.idle[at]


@inlined
def is_empty(run, row):
    """Whether an instance is up, and nobody is on it, of whatever part."""
    fleet, nodes = run.fleet, run.nodes
    if fleet.stage[row] != UP or fleet.jobs[row] > 0:
        return False
    at = ledger_row(run, row)
    return run.queues.counts[OTHERS] == 0 or nodes.idle[at] == nodes.capacity[at]


@inlined
def empty_ones(run, of):
    """How many instances of a type are up with nobody on them, of whatever part."""
    fleet = run.fleet
    if run.queues.counts[OTHERS] == 0:
        return fleet.number[of, N_UP] - fleet.number[of, N_USED]
    count = 0
    for row in range(fleet.first[of], fleet.top[of]):
        if is_empty(run, row):
            count += 1
    return np.int64(count)


@inlined
def _is_tighter(run, row, other):
    """Whether an instance has less left than another; the lower row wins a tie."""
    fleet = run.fleet
    of, beside = fleet.kind[row], fleet.kind[other]
    for resource in range(3):
        left = fleet.capacity[of, resource] - fleet.used[row, resource]
        right = fleet.capacity[beside, resource] - fleet.used[other, resource]
        if left != right:
            return left < right
    return row < other


@inlined
def _better(run, row, found):
    if found == NOBODY:
        return True
    if run.queues.counts[BEST] == 0:
        return row < found
    return _is_tighter(run, row, found)


@inlined
def _among_all(run, kind):
    fleet, queues, found = run.fleet, run.queues, np.int64(NOBODY)
    for of in range(len(fleet.top)):
        if fleet.number[of, N_UP] == 0 or queues.welcome[kind, of] == 0:
            continue
        for row in range(fleet.first[of], fleet.top[of]):
            if has_room(run, row, kind) and _better(run, row, found):
                found = np.int64(row)
                if run.queues.counts[BEST] == 0:
                    return found
    return found


@inlined
def _among_changed(run, kind):
    found = np.int64(NOBODY)
    for place in range(run.queues.counts[CHANGED]):
        row = run.fleet.changed[place]
        if has_room(run, row, kind) and _better(run, row, found):
            found = np.int64(row)
    return found


@inlined
def _first_of_empty(run, kind):
    """The first of enough empty instances of a type; NOBODY where there are too few."""
    fleet, queues = run.fleet, run.queues
    of, wanted = queues.bucket[kind], queues.gang[kind]
    if fleet.number[of, N_UP] - fleet.number[of, N_USED] < wanted:
        return np.int64(NOBODY)
    found, first = 0, np.int64(NOBODY)
    for row in range(fleet.first[of], fleet.top[of]):
        if is_empty(run, row):
            if found == 0:
                first = np.int64(row)
            found += 1
            if found == wanted:
                return first
    return np.int64(NOBODY)


@inlined
def room_for(run, kind):
    """The row for the next job of a kind, for a gang the first of its rows; NOBODY where it has to wait."""
    queues = run.queues
    if queues.gang[kind] > 0:
        return _first_of_empty(run, kind)
    if queues.fresh[kind] != 0:
        return _among_all(run, kind)
    return _among_changed(run, kind)
