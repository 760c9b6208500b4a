"""Workload-aware greedy scheduling: next the job that would end first."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.jit import Kernel
from windlass.order.fleet.compiled import SELECT, CompiledOrder, ordered
from windlass.order.fleet.lib.greedy import greedy
from windlass.order.fleet.lib.validation import as_fleet
from windlass.order.fleet.policies.global_srpt import totals

#: Indices into the options: whether only a job's own sites count in its makespan; whether the backlog counts.
_OWN_SITES, _BACKLOG = range(2)


def _select(subjobs, slots, backlog, options, out):
    queue = backlog if options[_BACKLOG] != 0.0 else np.zeros(len(slots))
    by_size = np.argsort(totals(subjobs), kind="mergesort")
    greedy(subjobs, slots, queue, options[_OWN_SITES] != 0.0, by_size, out[0])
    return 1


class Swag(CompiledOrder):
    """SWAG: next the job with the least makespan behind the jobs ordered before it.

    The makespan is the greatest (queue + tasks) / slots over all sites. Ties go to the job with the fewest
    remaining tasks, then to the earlier arrival.

    Parameters
    ----------
    own_sites
        Whether only sites where the job has tasks count in its makespan. The thesis counts all sites.
    backlog
        Whether queues begin with the tasks that run at each site; the thesis begins with empty ones.

    Source: Hung, "Resource scheduling in geo-distributed computing", 2017, algorithm 3.5, section 3.3.2.

    Examples
    --------
    >>> from windlass.order.fleet import FleetView
    >>> subjobs = np.array([[1.0, 10.0, 1.0], [3.0, 8.0, 0.0], [7.0, 0.0, 6.0]])
    >>> Swag().decide(FleetView(0.0, subjobs, np.ones(3), np.zeros(3))).order
    array([2, 1, 0])
    """

    name: ClassVar[str] = "swag"
    why: ClassVar[str] = "ends first behind the jobs ordered before it"
    select: Kernel = Kernel(_select, SELECT)

    def __init__(self, own_sites: bool = False, backlog: bool = False) -> None:
        self._options = (float(bool(own_sites)), float(bool(backlog)))

    @property
    def options(self) -> NDArray[np.float64]:
        """(2,) whether only own sites count, and whether the backlog counts."""
        return np.array(self._options)


def swag(subjobs: ArrayLike, slots: ArrayLike, backlog: ArrayLike | None = None) -> NDArray[np.int64]:
    """Order jobs greedily by when each would end behind those ordered before it.

    Parameters
    ----------
    subjobs
        (n, m) tasks of each job at each site; rows in order of arrival.
    slots
        (m,) slots of each site, or one number for all.
    backlog
        (m,) tasks queued at each site before any of these; none by default.

    Returns
    -------
    (n,) int64
        The rows, first to last. Ties in the makespan go to the fewest tasks, then to the earlier row.

    Raises
    ------
    InputError
        An argument is invalid; the message names it and the value.

    Source: Hung, "Resource scheduling in geo-distributed computing", 2017, algorithm 3.5, section 3.3.2; slots
    that differ, section 3.4.

    Examples
    --------
    >>> swag([[1, 10, 1], [3, 8, 0], [7, 0, 6]], slots=1)
    array([2, 1, 0])
    >>> swag([[2, 2, 0], [0, 3, 3]], slots=1, backlog=[2, 0, 0])
    array([1, 0])
    """
    return ordered(Swag(backlog=True), *as_fleet(subjobs, slots, backlog))
