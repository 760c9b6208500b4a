"""The best order by search, for small cases."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.jit import Kernel, helper
from windlass.model import InputError
from windlass.order.fleet.compiled import SELECT, CompiledOrder, ordered
from windlass.order.fleet.lib.greedy import greedy
from windlass.order.fleet.lib.validation import as_fleet
from windlass.order.fleet.policies.global_srpt import totals

#: Largest search: 2^16 sets of jobs times 30 sites take 16 MB.
MOST_JOBS = 16


@helper
def _search(subjobs, slots, backlog, jobs):
    """Return the order of the chosen ``jobs`` with the least sum of finish instants.

    Dynamic programming over sets: the last job of a set ends when the set's tasks are done at its sites, whatever the
    order of those before it. One order for all sites suffices, because reordering turns any other into one that is not
    worse.
    """
    count, sites = len(jobs), subjobs.shape[1]
    queues = np.empty((1 << count, sites))
    queues[0] = backlog
    least = np.zeros(1 << count)
    last = np.zeros(1 << count, np.int64)
    for members in range(1, 1 << count):
        lowest = 0
        while members >> lowest & 1 == 0:
            lowest += 1
        for site in range(sites):
            queues[members, site] = queues[members & (members - 1), site] + subjobs[jobs[lowest], site]
        least[members] = np.inf
        for member in range(lowest, count):
            if members >> member & 1 == 0:
                continue
            finish = 0.0
            for site in range(sites):
                if subjobs[jobs[member], site] > 0:
                    finish = max(finish, queues[members, site] / slots[site])
            finish += least[members & ~(1 << member)]
            # Of equal jobs the latest goes last, so that earlier arrivals go first.
            if finish <= least[members]:
                least[members] = finish
                last[members] = member
    found = np.empty(count, np.int64)
    members = (1 << count) - 1
    for place in range(count - 1, -1, -1):
        found[place] = jobs[last[members]]
        members &= ~(1 << last[members])
    return found


def _select(subjobs, slots, backlog, options, out):
    queue = backlog if options[1] != 0.0 else np.zeros(len(slots))
    by_size = np.argsort(totals(subjobs), kind="mergesort")
    greedy(subjobs, slots, queue, False, by_size, out[0])
    first = min(len(subjobs), int(options[0]))
    if first > 1:
        out[0, :first] = _search(subjobs, slots, queue, out[0, :first].copy())
    return 1


class Optimal(CompiledOrder):
    """The order with the least mean finish instant, by search over all sets of jobs; for small cases.

    If more jobs wait than ``limit``, SWAG orders them and the first ``limit`` are then ordered optimally. Like
    the other policies, it knows neither future arrivals nor the durations of tasks.

    Parameters
    ----------
    limit
        Number of jobs to search over, 1 to 16; the time doubles with each.

    Examples
    --------
    >>> from windlass.order.fleet import FleetView
    >>> subjobs = np.array([[1.0, 10.0, 1.0], [3.0, 8.0, 0.0], [7.0, 0.0, 6.0]])
    >>> Optimal().decide(FleetView(0.0, subjobs, np.ones(3), np.zeros(3))).order
    array([2, 1, 0])
    """

    name: ClassVar[str] = "optimal"
    why: ClassVar[str] = "least mean finish instant"
    select: Kernel = Kernel(_select, SELECT)

    def __init__(self, limit: int = 10, backlog: bool = False) -> None:
        if not 1 <= limit <= MOST_JOBS:
            raise ValueError(f"limit is {limit}, expected 1 to {MOST_JOBS}")
        self._options = (float(limit), float(bool(backlog)))

    @property
    def options(self) -> NDArray[np.float64]:
        """(2,) the number of jobs to search over, and whether the backlog counts."""
        return np.array(self._options)


def optimal(subjobs: ArrayLike, slots: ArrayLike, backlog: ArrayLike | None = None) -> NDArray[np.int64]:
    """Return the order with the least mean finish instant, by search over at most 16 jobs.

    Parameters
    ----------
    subjobs
        (n, m) tasks of each job at each site, n at most 16.
    slots
        (m,) slots of each site, or one number for all.
    backlog
        (m,) tasks queued ahead at each site; none by default.

    Returns
    -------
    (n,) int64
        The rows, first to last.

    Raises
    ------
    InputError
        There are more than 16 jobs, or an argument is invalid; the message names it and the value.

    Examples
    --------
    >>> optimal([[1, 10, 1], [3, 8, 0], [7, 0, 6]], slots=1)
    array([2, 1, 0])
    """
    tasks, capacity, queued = as_fleet(subjobs, slots, backlog)
    if len(tasks) > MOST_JOBS:
        raise InputError(f"subjobs has {len(tasks)} jobs, expected at most {MOST_JOBS} for a search")
    return ordered(Optimal(MOST_JOBS, backlog=True), tasks, capacity, queued)
