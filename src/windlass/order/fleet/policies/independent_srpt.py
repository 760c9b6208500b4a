"""Each site independently, its smallest sub-job first."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.jit import Kernel
from windlass.order.fleet.compiled import SELECT, CompiledOrder, ordered
from windlass.order.fleet.lib.validation import as_fleet


def _select(subjobs, slots, backlog, options, out):
    sizes = np.empty(len(subjobs))
    for site in range(subjobs.shape[1]):
        # Element by element: an array assignment adds error texts for unequal shapes, which take seconds to compile.
        for job in range(len(subjobs)):
            sizes[job] = subjobs[job, site]
        by_size = np.argsort(sizes, kind="mergesort")
        for place in range(len(by_size)):
            out[site, place] = by_size[place]
    return subjobs.shape[1]


class IndependentSrpt(CompiledOrder):
    """Independent SRPT: each site serves its smallest sub-job first, regardless of the job's tasks elsewhere.

    Ties go to the earlier arrival. Sites exchange no information.

    Source: Hung, "Resource scheduling in geo-distributed computing", 2017, section 3.1.3.

    Examples
    --------
    >>> from windlass.order.fleet import FleetView
    >>> subjobs = np.array([[2.0, 2.0], [1.0, 9.0]])
    >>> IndependentSrpt().decide(FleetView(0.0, subjobs, np.ones(2), np.zeros(2))).order.tolist()
    [[1, 0], [0, 1]]
    """

    name: ClassVar[str] = "independent-srpt"
    why: ClassVar[str] = "smallest sub-job of each site first"
    select: Kernel = Kernel(_select, SELECT)


def independent_srpt(
    subjobs: ArrayLike, slots: ArrayLike, backlog: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Order jobs for each site by their tasks there, fewest first.

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
    (m, n) int64
        The rows, first to last, for each site.

    Raises
    ------
    InputError
        An argument is invalid; the message names it and the value.

    Examples
    --------
    >>> independent_srpt([[1, 10, 1], [3, 8, 0], [7, 0, 6]], slots=1).tolist()
    [[0, 1, 2], [2, 1, 0], [1, 0, 2]]
    """
    return np.atleast_2d(ordered(IndependentSrpt(), *as_fleet(subjobs, slots, backlog)))
