"""Fewest remaining tasks over all sites first."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.jit import Kernel, helper
from windlass.order.fleet.compiled import SELECT, CompiledOrder, ordered
from windlass.order.fleet.lib.validation import as_fleet


@helper
def totals(subjobs):
    """Return (n,) the tasks that each job has left over all sites."""
    found = np.zeros(len(subjobs))
    for job in range(len(subjobs)):
        for site in range(subjobs.shape[1]):
            found[job] += subjobs[job, site]
    return found


def _select(subjobs, slots, backlog, options, out):
    by_size, row = np.argsort(totals(subjobs), kind="mergesort"), out[0]
    # Element by element: an array assignment adds error texts for unequal shapes, which take seconds to compile.
    for place in range(len(by_size)):
        row[place] = by_size[place]
    return 1


class GlobalSrpt(CompiledOrder):
    """Global SRPT: the job with the fewest remaining tasks over all sites goes first, at every site.

    Ties go to the earlier arrival. It ignores that a small job may have a large sub-job.

    Source: Hung, "Resource scheduling in geo-distributed computing", 2017, section 3.1.3.

    Examples
    --------
    >>> from windlass.order.fleet import FleetView
    >>> GlobalSrpt().decide(FleetView(0.0, np.array([[2.0, 2.0], [1.0, 0.0]]), np.ones(2), np.zeros(2))).order
    array([1, 0])
    """

    name: ClassVar[str] = "global-srpt"
    why: ClassVar[str] = "fewest remaining tasks over all sites first"
    select: Kernel = Kernel(_select, SELECT)


def global_srpt(subjobs: ArrayLike, slots: ArrayLike, backlog: ArrayLike | None = None) -> NDArray[np.int64]:
    """Order jobs by their remaining tasks over all sites, fewest first.

    Parameters
    ----------
    subjobs
        (n, m) tasks of each job at each site, rows in order of arrival; ties go to the earlier row.
    slots
        (m,) slots of each site, or one number for all.
    backlog
        (m,) tasks queued already; ignored.

    Returns
    -------
    (n,) int64
        The rows, first to last.

    Raises
    ------
    InputError
        An argument is invalid; the message names it and the value.

    Examples
    --------
    >>> global_srpt([[1, 10, 1], [3, 8, 0], [7, 0, 6]], slots=1)
    array([1, 0, 2])
    """
    return ordered(GlobalSrpt(), *as_fleet(subjobs, slots, backlog))
