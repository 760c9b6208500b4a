"""What a policy over all sites sees, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class FleetView:
    """All that a policy may know when a job has arrived or departed.

    Parameters
    ----------
    now
        The engine's clock, s.
    subjobs
        (n, m) float64, what each waiting job has left to start at each site: tasks, or expected seconds. Jobs
        are in order of arrival; one that has nothing left to start is not there.
    slots
        (m,) float64, slots of each site, at least 1.
    backlog
        (m,) float64, what runs at each site, in tasks.
    job
        (n,) int64, which jobs they are, numbered by arrival.

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
    """Serve the jobs in this order.

    Parameters
    ----------
    order
        (n,) int64, a permutation of the rows of ``subjobs`` for all sites; or (m, n), one per site.
    why
        The reason, for ``--explain`` and for dry runs.
    """

    order: NDArray[np.int64]
    why: str = ""
