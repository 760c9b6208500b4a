"""The time that a job takes alone on all sites, which its response is compared with."""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, inlined


@inlined
def _replace_first(ends, size, end):
    """Replace the first entry of a heap by a later time."""
    slot = 0
    while True:
        child = 2 * slot + 1
        if child >= size:
            break
        if child + 1 < size and ends[child + 1] < ends[child]:
            child += 1
        if end <= ends[child]:
            break
        ends[slot] = ends[child]
        slot = child
    ends[slot] = end


def _alone(first, site, task0, duration, slots, ends, out):
    for job in range(len(out)):
        longest = 0.0
        for sub in range(first[job], first[job + 1]):
            size = min(slots[site[sub]], task0[sub + 1] - task0[sub])
            for slot in range(size):
                ends[slot] = 0.0
            for task in range(task0[sub], task0[sub + 1]):
                end = ends[0] + duration[task]
                longest = max(longest, end)
                _replace_first(ends, size, end)
        out[job] = longest


_ints, _floats = types.int64[::1], types.float64[::1]
ALONE = Kernel(_alone, types.void(_ints, _ints, _ints, _floats, _ints, _floats, _floats), allocates=False)


def alone(
    first: NDArray[np.int64],
    site: NDArray[np.int64],
    task0: NDArray[np.int64],
    duration: NDArray[np.float64],
    slots: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the time from arrival to the end of the last task on an otherwise empty fleet, (J,) s.

    Parameters
    ----------
    first, site, task0, duration
        Sub-jobs of jobs, their sites and tasks, and the tasks' durations in order of start, s, as in
        :class:`~windlass.model.fleet.FleetJobs` of one stage each.
    slots
        (m,) slots of each site.

    Examples
    --------
    >>> alone(np.array([0, 1]), np.array([0]), np.array([0, 3]), np.array([2.0, 1.0, 1.0]), np.array([2]))
    array([2.])
    """
    out = np.empty(len(first) - 1)
    ALONE.ready()(first, site, task0, duration, slots, np.empty(int(slots.max())), out)
    return out
