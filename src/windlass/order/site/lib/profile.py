"""Expected number of free processors over time, as a step function."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit import helper, lean


class Profile(NamedTuple):
    """A step function, with room for more steps: a caller allocates two per future reservation.

    Parameters
    ----------
    times
        (k,) start of each step, s, ascending.
    free
        (k,) free processors from ``times[i]`` until ``times[i + 1]``; the last step has no end.
    steps
        (1,) number of steps in use.
    """

    times: NDArray[np.float64]
    free: NDArray[np.int64]
    steps: NDArray[np.int64]


@helper
def profile_of_running(view, spare):
    """Return the profile without reservations; a job past its expected end is expected to end at once.

    Owed processors are subtracted from those released first.
    """
    running, procs, expected_end = view.running, view.procs, view.expected_end
    times = np.empty(len(running) + 1 + spare, np.float64)
    free = np.empty(len(running) + 1 + spare, np.int64)
    times[0], free[0] = view.now, view.free - view.claimed
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
    """Return when a job that starts at ``start`` ends: always later than ``start``, even for a duration of 0."""
    return max(start + duration, np.nextafter(start, np.inf))


@lean
def earliest(profile, procs, duration):
    """Return the first time from which ``procs`` processors stay free for ``duration`` seconds."""
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
    """Start a step at a time if none does, and return its index."""
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
    """Subtract ``procs`` processors (add them if negative) from ``start`` on for ``duration`` seconds."""
    first = _split(profile, start)
    last = _split(profile, end_of(start, duration))
    for step in range(first, last):
        profile.free[step] -= procs
