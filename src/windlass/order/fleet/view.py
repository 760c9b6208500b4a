"""Input and output of an ordering policy over all sites."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.model import InputError, PolicyError


@dataclass(frozen=True, slots=True)
class FleetView:
    """All that a policy may know when a job has arrived or departed.

    Parameters
    ----------
    now
        The engine's clock, s.
    subjobs
        (n, m) float64, work that each waiting job has left to start at each site: tasks, or expected seconds. Jobs
        are in order of arrival; a job with nothing left to start is not included.
    slots
        (m,) float64, slots of each site, at least 1.
    backlog
        (m,) float64, tasks running at each site.
    job
        (n,) int64, the job numbers, by arrival.

    Examples
    --------
    >>> FleetView(0.0, np.ones((2, 3)), np.ones(3), np.zeros(3)).subjobs.shape
    (2, 3)
    """

    now: float
    subjobs: NDArray[np.float64]
    slots: NDArray[np.float64]
    backlog: NDArray[np.float64]
    job: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class JobOrder:
    """An order in which to serve the jobs.

    Parameters
    ----------
    order
        (n,) int64, a permutation of the rows of ``subjobs`` for all sites; or (m, n), one per site.
    why
        The reason, for ``--explain`` and for dry runs.

    Examples
    --------
    >>> JobOrder(np.arange(3)).check(FleetView(0.0, np.ones((2, 3)), np.ones(3), np.zeros(3)))
    Traceback (most recent call last):
    windlass.model.errors.PolicyError: returned an invalid order: order has shape (3,), expected (2,) or (3, 2)
    """

    order: NDArray[np.int64]
    why: str = ""

    def check(self, view: FleetView) -> None:
        """Raise unless an engine can serve the jobs in this order.

        Raises
        ------
        PolicyError
            It is not an order of the view's jobs, nor one for each site.
        """
        self.orders(*view.subjobs.shape)

    def orders(self, jobs: int, sites: int) -> NDArray[np.int64]:
        """Check this order against an engine's own numbers of jobs and sites; return (1, n), or (m, n) by site.

        Raises
        ------
        PolicyError
            See :meth:`check`.
        """
        try:
            return as_orders(self.order, jobs, sites)
        except InputError as error:
            raise PolicyError(f"returned an invalid order: {error}") from error


def as_orders(order: ArrayLike, jobs: int, sites: int) -> NDArray[np.int64]:
    """Return one order for all sites as (1, n), or one per site as (m, n).

    Raises
    ------
    InputError
        The shape is wrong, or a row is not a permutation of the jobs.
    """
    given = np.asarray(order)
    if given.shape not in ((jobs,), (sites, jobs)):
        raise InputError(f"order has shape {given.shape}, expected ({jobs},) or ({sites}, {jobs})")
    if given.dtype.kind not in "iu" and given.size:
        raise InputError(f"order has the type {given.dtype}, expected whole numbers of jobs")
    rows = np.ascontiguousarray(np.atleast_2d(given), dtype=np.int64)
    for number, row in enumerate(rows):
        if not np.array_equal(np.sort(row), np.arange(jobs)):
            wrong = next((int(job) for job in row if (row == job).sum() > 1 or not 0 <= job < jobs), None)
            where = "order" if given.ndim == 1 else f"order[{number}]"
            raise InputError(
                f"{where} is not a permutation of 0 to {jobs - 1}: job {wrong} is repeated or out of range"
            )
    return rows
