"""Owners of jobs, as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Owners:
    """User, group and queue of each of n jobs: a number from 0, -1 if unknown.

    Parameters
    ----------
    user, group, queue
        (n,) int64. A queue is one that the log names, such as Slurm's QOS; all queues share the same processors.

    Examples
    --------
    >>> found = Owners.of(3, user=[0, 1, -1])
    >>> found.entries, found.group.tolist()
    (3, [-1, -1, -1])
    """

    user: NDArray[np.int64]
    group: NDArray[np.int64]
    queue: NDArray[np.int64]

    @classmethod
    def of(cls, jobs: int, user: object = None, group: object = None, queue: object = None) -> Owners:
        """Build from anything array-like; None means that all are unknown."""
        columns = (
            np.full(jobs, -1, np.int64) if given is None else np.ascontiguousarray(given, np.int64)
            for given in (user, group, queue)
        )
        return cls(*columns)

    @property
    def entries(self) -> int:
        """Number of users; if some are unknown, they count together as one more, the last."""
        known = int(self.user.max()) + 1 if len(self.user) else 0
        return known + bool(len(self.user) == 0 or self.user.min() < 0)
