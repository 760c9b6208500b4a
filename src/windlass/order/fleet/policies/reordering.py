"""Postponing sub-jobs where that delays no job: an addition to any order."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.jit import Kernel
from windlass.order.fleet.compiled import REFINE, select_of
from windlass.order.fleet.lib.validation import as_fleet
from windlass.order.fleet.policies.independent_srpt import IndependentSrpt
from windlass.order.fleet.view import FleetView, JobOrder, as_orders


def _refine(subjobs, slots, backlog, rows, out):
    """Read ``rows`` orders from ``out`` and write one over the first."""
    jobs, sites = subjobs.shape
    queue = backlog.copy()
    last = np.full(sites, jobs - 1)
    placed = np.zeros(jobs, np.bool_)
    result = np.empty(jobs, np.int64)
    for job in range(jobs):
        for site in range(sites):
            queue[site] += subjobs[job, site]
    # A site is left out once all its sub-jobs are placed: rounding may leave a remainder of a queue of seconds.
    for place in range(jobs - 1, -1, -1):
        target = -1
        for site in range(sites):
            row = site % rows
            while last[site] >= 0 and (
                placed[out[row, last[site]]] or subjobs[out[row, last[site]], site] <= 0.0
            ):
                last[site] -= 1
            if last[site] >= 0 and (target < 0 or queue[site] / slots[site] > queue[target] / slots[target]):
                target = site
        if target < 0:
            # Only jobs without tasks are left: they go first, in their previous order.
            place_free = place
            for position in range(jobs - 1, -1, -1):
                job = out[0, position]
                if not placed[job]:
                    result[place_free] = job
                    place_free -= 1
            break
        job = out[target % rows, last[target]]
        placed[job] = True
        result[place] = job
        for site in range(sites):
            queue[site] -= subjobs[job, site]
    for place in range(jobs):
        out[0, place] = result[place]
    return 1


REORDER = Kernel(_refine, REFINE)


class Reordering:
    """Reordering: an order of jobs, with sub-jobs postponed as long as that delays no job.

    Repeatedly: at the site with the longest queue, the job whose sub-job is last ends last in any case, so it
    goes last at every site. The mean finish instant never gets worse (theorem 1).

    Parameters
    ----------
    base
        The policy that provides the order: its name, or the file that holds it.

    Source: Hung, "Resource scheduling in geo-distributed computing", 2017, algorithm 3.3, section 3.2.

    Examples
    --------
    >>> subjobs = np.array([[1.0, 10.0, 1.0], [3.0, 8.0, 0.0], [7.0, 0.0, 6.0]])
    >>> Reordering("global-srpt").decide(FleetView(0.0, subjobs, np.ones(3), np.zeros(3))).order
    array([1, 2, 0])
    """

    name: ClassVar[str] = "reordering"

    def __init__(self, base: str = IndependentSrpt.name) -> None:
        from windlass.order.fleet import POLICIES

        if base == self.name:
            raise ValueError(f"base is {base!r}, expected a policy other than {base!r}")
        self._base: Any = POLICIES.make(base, np.random.default_rng(0))
        #: Function that the simulator's loop calls; None if the base is not compiled.
        self.select: Kernel | None = select_of(self._base)
        self.refine: Kernel = REORDER

    @property
    def options(self) -> NDArray[np.float64]:
        """(k,) the parameters of the base."""
        found: NDArray[np.float64] = self._base.options
        return found

    def decide(self, view: FleetView) -> JobOrder:
        """Return the base's order, reordered, and the reason."""
        based: JobOrder = self._base.decide(view)
        return JobOrder(
            _reordered(view.subjobs, view.slots, np.zeros(len(view.slots)), based.order),
            f"{based.why}; then postponed where that delays no job",
        )


def _reordered(
    subjobs: NDArray[np.float64],
    slots: NDArray[np.float64],
    backlog: NDArray[np.float64],
    order: NDArray[np.int64],
) -> NDArray[np.int64]:
    orders = np.atleast_2d(order).copy()
    if len(subjobs):
        REORDER.ready()(subjobs, slots, backlog, len(orders), orders)
    reordered: NDArray[np.int64] = orders[0]
    return reordered


def reordering(
    subjobs: ArrayLike, slots: ArrayLike, order: ArrayLike, backlog: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Return one order for all sites whose mean finish instant is at most that of the order given.

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
    (n,) int64
        Jobs, first to last; its mean finish instant is at most that of ``order``. Of sites with equally long
        queues the first is used; jobs without tasks go first.

    Raises
    ------
    InputError
        An argument is invalid; the message names it and the value.

    Source: Hung, "Resource scheduling in geo-distributed computing", 2017, algorithm 3.3, section 3.2.

    Examples
    --------
    >>> reordering([[1, 10, 1], [3, 8, 0], [7, 0, 6]], 1, [1, 0, 2])
    array([1, 2, 0])
    """
    tasks, capacity, queued = as_fleet(subjobs, slots, backlog)
    return _reordered(tasks, capacity, queued, as_orders(order, *tasks.shape))
