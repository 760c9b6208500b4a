"""Expected free amount of several resources over time: a profile with one row per resource."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import allocating, lean
from windlass.order.site.lib.pools import requested
from windlass.order.site.lib.timeline import end_of


class PoolProfile(NamedTuple):
    """A step function of 1 + k resources, with room for two more steps per reservation.

    Parameters
    ----------
    times
        (s,) start of each step, s, ascending.
    free
        (1 + k, s) free amount of each resource from ``times[i]`` until ``times[i + 1]``; the last step has no end.
    steps
        (1,) number of steps in use.
    """

    times: NDArray[np.float64]
    free: NDArray[np.int64]
    steps: NDArray[np.int64]


@allocating
def pools_of_running(view, spare):
    """Return the profile without reservations; a job past its expected end is expected to end at once.

    Owed processors are subtracted from those released first.
    """
    running, expected_end = view.running, view.expected_end
    resources = 1 + len(view.pools)
    times = np.empty(len(running) + 1 + spare, np.float64)
    free = np.empty((resources, len(running) + 1 + spare), np.int64)
    times[0], free[0, 0] = view.now, view.free - view.claimed
    for resource in range(1, resources):
        free[resource, 0] = view.pools[resource - 1]
    size, owed = 1, view.owed
    for row in running:
        end = max(expected_end[row], np.nextafter(view.now, np.inf))
        if end > times[size - 1]:
            times[size] = end
            for resource in range(resources):
                free[resource, size] = free[resource, size - 1]
            size += 1
        for resource in range(resources):
            free[resource, size - 1] += requested(view, resource, row)
        paid = min(owed, view.procs[row])
        owed -= paid
        free[0, size - 1] -= paid
    return PoolProfile(times, free, np.full(1, size))


@lean
def _fits_at(profile, view, row, step):
    resource = 0
    while resource < len(profile.free) and profile.free[resource, step] >= requested(view, resource, row):
        resource += 1
    return resource == len(profile.free)


@lean
def earliest_of_all(profile, view, row):
    """Return the first time from which everything that a job requests stays free for its requested time."""
    times, size, duration = profile.times, profile.steps[0], view.request[row]
    start = step = 0
    while step < size and times[step] < end_of(times[start], duration):
        if not _fits_at(profile, view, row, step):
            start = step + 1
            if start >= size:
                return np.inf
        step += 1
    return times[start]


@lean
def _split(profile, time):
    """Start a step at a time if none does, and return its index."""
    times, free, size = profile.times, profile.free, profile.steps[0]
    place = np.searchsorted(times[:size], time)
    if place < size and times[place] == time:
        return place
    for step in range(size, place, -1):
        times[step] = times[step - 1]
        for resource in range(len(free)):
            free[resource, step] = free[resource, step - 1]
    times[place] = time
    for resource in range(len(free)):
        free[resource, place] = free[resource, place - 1]
    profile.steps[0] = size + 1
    return place


@lean
def reserve_all(profile, view, row, start, times):
    """Subtract a job's request from ``start`` on for its requested time, ``times`` times; -1 releases it."""
    first = _split(profile, start)
    last = _split(profile, end_of(start, view.request[row]))
    for resource in range(len(profile.free)):
        for step in range(first, last):
            profile.free[resource, step] -= times * requested(view, resource, row)
