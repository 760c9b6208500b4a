"""The instance on which a job starts: first fit or best fit.

Types are searched from the smallest to the largest, and the rows of each type in their order. *First fit* chooses the
first instance that has room. *Best fit* chooses the instance with the fewest GPUs left; ties are broken by cores left,
then by memory left.

A job that is larger than any type, a *gang*, takes several empty instances of one type at once.
"""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined
from windlass.sim.instances.state import MILLI, NONE, UP


@inlined
def ledger_row(run, row):
    """Return the ledger's row of an instance."""
    counts = run.queues.counts[0]
    return run.nodes.first[counts.site] + counts.after + row


@inlined
def cores_for(milli):
    """Return the number of whole cores that cover a number of thousandths."""
    return (milli + MILLI - 1) // MILLI


@inlined
def has_room(run, row, kind):
    """Return whether a job of a kind fits on an instance in addition to the jobs on it."""
    fleet, queues, nodes, counts = run.fleet, run.queues, run.nodes, run.queues.counts[0]
    if fleet.stage[row] != UP or fleet.owner[row] != NONE:
        return False
    of = fleet.kind[row]
    if queues.welcome[kind, of] == 0:
        return False
    for resource in range(3):
        if fleet.used[row, resource] + queues.vector[kind, resource] > fleet.capacity[of, resource]:
            return False
    if counts.shared == 0:
        return True
    at = ledger_row(run, row)
    more = cores_for(fleet.used[row, 1] + queues.vector[kind, 1]) - nodes.held[at, counts.part]
    return more <= 0 or more <= nodes.idle[at]


@inlined
def is_empty(run, row):
    """Return whether an instance is up and no part holds any of it."""
    fleet, nodes = run.fleet, run.nodes
    if fleet.stage[row] != UP or fleet.jobs[row] > 0:
        return False
    at = ledger_row(run, row)
    return run.queues.counts[0].shared == 0 or nodes.idle[at] == nodes.capacity[at]


@inlined
def is_unused(run, row):
    """Return whether an instance is up and no part holds any of it, except for the share that one keeps of each."""
    fleet, nodes, counts = run.fleet, run.nodes, run.queues.counts[0]
    if fleet.stage[row] != UP or fleet.jobs[row] > 0:
        return False
    if counts.shared == 0:
        return True
    at = ledger_row(run, row)
    kept = nodes.held[at, counts.keeper] if counts.keeper >= 0 else np.int64(0)
    return nodes.idle[at] + kept == nodes.capacity[at]


@inlined
def count_empty(run, of):
    """Return the number of empty instances of a type."""
    fleet = run.fleet
    if run.queues.counts[0].shared == 0:
        return fleet.up[of] - fleet.occupied[of]
    count = 0
    for row in range(fleet.first[of], fleet.top[of]):
        if is_empty(run, row):
            count += 1
    return np.int64(count)


@inlined
def _is_tighter(run, row, other):
    """Return whether an instance has less left than another one; the lower row wins a tie."""
    fleet = run.fleet
    of, of_other = fleet.kind[row], fleet.kind[other]
    for resource in range(3):
        left = fleet.capacity[of, resource] - fleet.used[row, resource]
        right = fleet.capacity[of_other, resource] - fleet.used[other, resource]
        if left != right:
            return left < right
    return row < other


@inlined
def _better(run, row, best):
    if best == NONE:
        return True
    if run.queues.counts[0].best_fit == 0:
        return row < best
    return _is_tighter(run, row, best)


@inlined
def _among_all(run, kind):
    fleet, queues, best = run.fleet, run.queues, np.int64(NONE)
    for of in range(len(fleet.top)):
        if fleet.up[of] == 0 or queues.welcome[kind, of] == 0:
            continue
        for row in range(fleet.first[of], fleet.top[of]):
            if has_room(run, row, kind) and _better(run, row, best):
                best = np.int64(row)
                if queues.counts[0].best_fit == 0:
                    return best
    return best


@inlined
def _among_changed(run, kind):
    best = np.int64(NONE)
    for place in range(run.queues.counts[0].changed):
        row = run.fleet.changed[place]
        if has_room(run, row, kind) and _better(run, row, best):
            best = np.int64(row)
    return best


@inlined
def _first_of_empty(run, kind):
    """Return the first row of the empty instances for a gang; NONE if there are too few."""
    fleet, queues = run.fleet, run.queues
    of, wanted = queues.bucket[kind], queues.gang[kind]
    if fleet.up[of] - fleet.occupied[of] < wanted:
        return np.int64(NONE)
    count, first = 0, np.int64(NONE)
    for row in range(fleet.first[of], fleet.top[of]):
        if is_empty(run, row):
            if count == 0:
                first = np.int64(row)
            count += 1
            if count == wanted:
                return first
    return np.int64(NONE)


@inlined
def room_for(run, kind):
    """Return the row for the next job of a kind, or the first row for a gang; NONE if the job has to wait."""
    queues = run.queues
    if queues.gang[kind] > 0:
        return _first_of_empty(run, kind)
    if queues.fresh[kind] != 0:
        return _among_all(run, kind)
    return _among_changed(run, kind)
