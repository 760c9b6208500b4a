"""Amounts of several resources: processors first, then the pools that jobs request in addition.

An amount is one array of 1 + k numbers. At a site without pools, policies count processors only, which is faster.
"""

import numpy as np

from windlass.jit import allocating, lean


@lean
def requested(view, resource, row):
    """Return the amount of a resource that a job requests: resource 0 is processors, the others are the pools."""
    return view.procs[row] if resource == 0 else view.needs[resource - 1, row]


@allocating
def free_now(view):
    """Return (1 + k,) the free amount of each resource."""
    free = np.empty(1 + len(view.pools), np.int64)
    free[0] = view.free
    free[1:] = view.pools
    return free


@lean
def fits(view, free, row):
    """Return whether a job's request fits in an amount."""
    resource = 0
    while resource < len(free) and requested(view, resource, row) <= free[resource]:
        resource += 1
    return resource == len(free)


@lean
def add(view, free, row, times):
    """Add a job's request to an amount, ``times`` times; -1 subtracts it."""
    for resource in range(len(free)):
        free[resource] += times * requested(view, resource, row)


@lean
def start_heads(view, free, chosen, why):
    """Choose jobs from the front of the queue up to the first that does not fit, and return their number.

    Their requests are subtracted from ``free``. No job is chosen if the first was refused before.
    """
    count = 0
    while view.refused == 0 and count < len(view.queue) and fits(view, free, view.queue[count]):
        add(view, free, view.queue[count], -1)
        chosen[count] = count
        why[count] = 0
        count += 1
    return count


@allocating
def heads_of_all(view, chosen, why):
    """Choose jobs from the front of the queue as :func:`start_heads` does, from all that is free now."""
    return start_heads(view, free_now(view), chosen, why)
