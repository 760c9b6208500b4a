"""A site: its processors, the queue in order of submission, and what runs, by expected end and processors.

Jobs are rows of the columns in :class:`SiteState`; the loop owns the clock and the events.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.compiled import inlined, slicing

#: Places in ``SiteState.counts``: idle processors; the queue is ``queue[HEAD:TAIL]``; running jobs; leading queue
#: entries that the last decision left waiting, with nothing freed since.
FREE, HEAD, TAIL, RUNNING, REFUSED = range(5)


class SiteState(NamedTuple):
    """State of one site; all columns have one entry per job unless said otherwise.

    ``queue`` and ``running`` hold rows; ``running`` has room for as many jobs as the site has processors.
    ``start`` and ``end`` are NaN until known; ``why`` is the policy's reason code.
    """

    procs: NDArray[np.int64]
    request: NDArray[np.float64]
    note: NDArray[np.float64]
    expected_end: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    why: NDArray[np.int64]
    queue: NDArray[np.int64]
    running: NDArray[np.int64]
    counts: NDArray[np.int64]


_ints, _floats = types.int64[::1], types.float64[::1]
SITE_STATE = types.NamedTuple((_ints, *(_floats,) * 5, *(_ints,) * 4), SiteState)


def make_site(processors: int, procs: NDArray[np.int64], request: NDArray[np.float64]) -> SiteState:
    """An idle site.

    >>> make_site(4, np.array([1, 2]), np.array([9.0, 9.0])).counts.tolist()
    [4, 0, 0, 0, 0]
    """
    jobs = len(procs)
    counts = np.zeros(5, np.int64)
    counts[FREE] = processors
    note, expected_end, start, end = np.full((4, jobs), np.nan)
    why, queue = np.zeros((2, jobs), np.int64)
    running = np.empty(min(jobs, processors), np.int64)
    return SiteState(procs, request, note, expected_end, start, end, why, queue, running, counts)


@slicing
def waiting_rows(site):
    """Rows of the queue, in order of submission."""
    return site.queue[site.counts[HEAD] : site.counts[TAIL]]


@slicing
def running_rows(site):
    """Rows of running jobs, by expected end, then processors."""
    return site.running[: site.counts[RUNNING]]


@inlined
def enqueue(site, row):
    """A job is submitted."""
    site.queue[site.counts[TAIL]] = row
    site.counts[TAIL] += 1


@inlined
def _place_of(site, row):
    """Where a row belongs among the running: behind all that are expected to end earlier, or then and are no wider."""
    end, procs = site.expected_end[row], site.procs[row]
    low, high = 0, site.counts[RUNNING]
    while low < high:
        middle = (low + high) >> 1
        other = site.running[middle]
        other_end = site.expected_end[other]
        if other_end < end or (other_end == end and site.procs[other] <= procs):
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def start_job(site, row, now):
    """A job takes its processors."""
    site.start[row] = now
    site.expected_end[row] = now + site.request[row]
    site.counts[FREE] -= site.procs[row]
    slot = _place_of(site, row)
    for other in range(site.counts[RUNNING], slot, -1):
        site.running[other] = site.running[other - 1]
    site.running[slot] = row
    site.counts[RUNNING] += 1


@inlined
def end_job(site, row, now):
    """A job gives its processors back."""
    site.end[row] = now
    site.counts[FREE] += site.procs[row]
    site.counts[REFUSED] = 0
    slot = _place_of(site, row) - 1
    while site.running[slot] != row:
        slot -= 1
    site.counts[RUNNING] -= 1
    for other in range(slot, site.counts[RUNNING]):
        site.running[other] = site.running[other + 1]


@inlined
def sort_few(values):
    """Sort a few values, nearly sorted already, in place."""
    for index in range(1, len(values)):
        value = values[index]
        slot = index
        while slot > 0 and values[slot - 1] > value:
            values[slot] = values[slot - 1]
            slot -= 1
        values[slot] = value


@inlined
def leave_queue(site, chosen):
    """Take the chosen queue positions, ascending, out of the queue; the others keep their order."""
    if len(chosen) == 0:
        return
    head = site.counts[HEAD]
    target = chosen[-1]
    pick = len(chosen) - 1
    for position in range(chosen[-1], -1, -1):
        if pick >= 0 and chosen[pick] == position:
            pick -= 1
        else:
            site.queue[head + target] = site.queue[head + position]
            target -= 1
    site.counts[HEAD] += len(chosen)
