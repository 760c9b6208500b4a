"""How many processors are expected to be free from now on: a step function over time."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import helper, lean


class Profile(NamedTuple):
    """A step function, and room for more steps: callers ask for two of each array for each reservation to come.

    Parameters
    ----------
    times
        (k,) when each step begins, s, ascending.
    free
        (k,) processors that are free from ``times[i]`` until ``times[i + 1]``; the last for ever.
    steps
        (1,) how many of the k are in use.
    """

    times: NDArray[np.float64]
    free: NDArray[np.int64]
    steps: NDArray[np.int64]


@helper
def profile_of_running(view, spare):
    """The profile when nobody waits; a job past its expected end is expected to end at once.

    What is owed is taken from the processors that come back first.
    """
    running, procs, expected_end = view.running, view.procs, view.expected_end
    times = np.empty(len(running) + 1 + spare, np.float64)
    free = np.empty(len(running) + 1 + spare, np.int64)
    times[0], free[0] = view.now, view.free
    size, owed = 1, view.owed
    for row in running:
        end = max(expected_end[row], np.nextafter(view.now, np.inf))
        if end > times[size - 1]:
            times[size], free[size] = end, free[size - 1]
            size += 1
        paid = min(owed, procs[row])
        owed -= paid
        free[size - 1] += procs[row] - paid
    return Profile(times, free, np.full(1, size))


@lean
def end_of(start, duration):
    """When a job that starts then gives its processors back: later than it starts, even if it asks for no time."""
    return max(start + duration, np.nextafter(start, np.inf))


@lean
def earliest(profile, procs, duration):
    """The first time from which ``procs`` processors stay free for ``duration`` seconds."""
    times, free, size = profile.times, profile.free, profile.steps[0]
    start = 0
    step = 0
    while step < size and times[step] < end_of(times[start], duration):
        if free[step] < procs:
            start = step + 1
            if start >= size:
                return np.inf
        step += 1
    return times[start]


@lean
def _split(profile, time):
    """Make a time the beginning of a step; which step that is."""
    times, free, size = profile.times, profile.free, profile.steps[0]
    place = np.searchsorted(times[:size], time)
    if place < size and times[place] == time:
        return place
    for step in range(size, place, -1):
        times[step], free[step] = times[step - 1], free[step - 1]
    times[place], free[place] = time, free[place - 1]
    profile.steps[0] = size + 1
    return place


@lean
def take(profile, procs, start, duration):
    """Take ``procs`` processors (give them back where negative) from ``start`` for ``duration`` seconds."""
    first = _split(profile, start)
    last = _split(profile, end_of(start, duration))
    for step in range(first, last):
        profile.free[step] -= procs
