"""How many processors are expected to be free from now on: a step function over time.

``times`` (k,) ascending, s, and ``free`` (k,): ``free[i]`` holds on [times[i], times[i+1]), the last for ever.
Only the first ``size`` entries count; callers allocate two spare entries for each reservation to come.
"""

import numpy as np

from windlass.compiled import helper


@helper
def profile_of_running(now, free, running, procs, expected_end, spare):
    """The profile when nobody waits; a job past its expected end is expected to end at once."""
    times = np.empty(len(running) + 1 + spare, np.float64)
    levels = np.empty(len(running) + 1 + spare, np.int64)
    times[0], levels[0] = now, free
    size = 1
    for row in running:
        end = max(expected_end[row], np.nextafter(now, np.inf))
        if end > times[size - 1]:
            times[size], levels[size] = end, levels[size - 1]
            size += 1
        levels[size - 1] += procs[row]
    return times, levels, size


@helper
def end_of(start, duration):
    """When a job that starts then gives its processors back: later than it starts, even if it asks for no time."""
    return max(start + duration, np.nextafter(start, np.inf))


@helper
def earliest(times, levels, size, procs, duration):
    """The first time from which ``procs`` processors stay free for ``duration`` seconds."""
    start = 0
    step = 0
    while step < size and times[step] < end_of(times[start], duration):
        if levels[step] < procs:
            start = step + 1
            if start >= size:
                return np.inf
        step += 1
    return times[start]


@helper
def _split(times, levels, size, at):
    """Make ``at`` a step of the profile; returns its index and the new size."""
    index = np.searchsorted(times[:size], at)
    if index < size and times[index] == at:
        return index, size
    for step in range(size, index, -1):
        times[step], levels[step] = times[step - 1], levels[step - 1]
    times[index], levels[index] = at, levels[index - 1]
    return index, size + 1


@helper
def change(times, levels, size, start, duration, procs):
    """Take ``procs`` processors (give them back where negative) from ``start`` for ``duration``; the new size."""
    first, size = _split(times, levels, size, start)
    last, size = _split(times, levels, size, end_of(start, duration))
    for step in range(first, last):
        levels[step] -= procs
    return size
