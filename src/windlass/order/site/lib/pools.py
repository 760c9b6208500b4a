"""Several resources at once: processors first, then the pools that jobs wait for beside them.

An amount of all is one array of 1 + k numbers. Where there is no pool, policies count processors alone: that is faster.
"""

import numpy as np

from windlass.jit import allocating, lean


@lean
def asked(view, resource, row):
    """What a job asks for of a resource: 0 for processors, then the pools."""
    return view.procs[row] if resource == 0 else view.needs[resource - 1, row]


@allocating
def free_now(view):
    """(1 + k,) what is free of each resource."""
    free = np.empty(1 + len(view.pools), np.int64)
    free[0] = view.free
    free[1:] = view.pools
    return free


@lean
def fits(view, free, row):
    """Whether all that a job asks for is in an amount."""
    resource = 0
    while resource < len(free) and asked(view, resource, row) <= free[resource]:
        resource += 1
    return resource == len(free)


@lean
def add(view, free, row, times):
    """Add what a job asks for to an amount, so many times; -1 takes it."""
    for resource in range(len(free)):
        free[resource] += times * asked(view, resource, row)


@lean
def start_heads(view, free, chosen, why):
    """Choose those at the front of the queue that fit, up to the first that does not; how many they are.

    What they ask for is taken from ``free``. Nobody is chosen where the front was refused before.
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
    """The same of what is free now."""
    return start_heads(view, free_now(view), chosen, why)
