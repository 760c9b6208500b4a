"""Finish times of jobs under an order, in tasks per slot: the measure that the thesis optimises."""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from windlass.jit import Kernel
from windlass.order.fleet.lib.validation import as_fleet
from windlass.order.fleet.view import as_orders


def _finish(subjobs, slots, backlog, orders, out):
    out[:] = 0.0
    for site in range(subjobs.shape[1]):
        order = orders[site % len(orders)]
        queue = backlog[site]
        for job in order:
            if subjobs[job, site] > 0:
                queue += subjobs[job, site]
                out[job] = max(out[job], queue / slots[site])


_table, _floats = types.float64[:, ::1], types.float64[::1]
FINISH = Kernel(_finish, types.void(_table, _floats, _floats, types.int64[:, ::1], _floats), allocates=False)


def finish_instants(
    subjobs: ArrayLike, slots: ArrayLike, order: ArrayLike, backlog: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return when each job ends if sites serve sub-jobs one after another, at one task per slot and unit of time.

    Parameters
    ----------
    subjobs
        (n, m) tasks of each job at each site.
    slots
        (m,) slots of each site, or one number for all.
    order
        (n,) a permutation of the jobs, or (m, n), one per site.
    backlog
        (m,) tasks queued ahead at each site; none by default.

    Returns
    -------
    (n,) float64
        For each job, over the sites where it has tasks, the maximum of (tasks up to and including its own) / slots; 0
        for a job without tasks.

    Raises
    ------
    InputError
        An argument is invalid; the message names it and the value.

    Source: Hung, "Resource scheduling in geo-distributed computing", 2017, section 3.1.2.

    Examples
    --------
    >>> finish_instants([[1, 10, 1], [3, 8, 0], [7, 0, 6]], 1, [0, 1, 2])
    array([10., 18., 11.])
    """
    tasks, capacity, queued = as_fleet(subjobs, slots, backlog)
    jobs, sites = tasks.shape
    orders = as_orders(order, jobs, sites)
    found = np.empty(jobs)
    FINISH.ready()(tasks, capacity, queued, orders, found)
    return found
