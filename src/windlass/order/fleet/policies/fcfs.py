"""First come, first served, over all sites."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.jit import Kernel
from windlass.order.fleet.compiled import SELECT, CompiledOrder, ordered
from windlass.order.fleet.lib.validation import as_fleet


def _select(subjobs, slots, backlog, options, out):
    for job in range(len(subjobs)):
        out[0, job] = job
    return 1


class Fcfs(CompiledOrder):
    """First come, first served: every site serves jobs in order of arrival.

    The baseline to which the others are normalised.

    Source: Hung, "Resource scheduling in geo-distributed computing", 2017, section 3.1.2.

    Examples
    --------
    >>> from windlass.order.fleet import FleetView
    >>> Fcfs().decide(FleetView(0.0, np.ones((3, 2)), np.ones(2), np.zeros(2))).order
    array([0, 1, 2])
    """

    name: ClassVar[str] = "fcfs"
    why: ClassVar[str] = "in order of arrival"
    select: Kernel = Kernel(_select, SELECT, allocates=False)


def fcfs(subjobs: ArrayLike, slots: ArrayLike, backlog: ArrayLike | None = None) -> NDArray[np.int64]:
    """First come, first served: jobs in the order of their rows.

    Parameters
    ----------
    subjobs
        (n, m) tasks of each job at each site, rows in order of arrival.
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
    >>> fcfs([[1, 10, 1], [3, 8, 0], [7, 0, 6]], slots=1)
    array([0, 1, 2])
    """
    return ordered(Fcfs(), *as_fleet(subjobs, slots, backlog))
