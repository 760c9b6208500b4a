"""Pairs of jobs that shared an allocation, with quotas and times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Result of a run with sharing.

    Parameters
    ----------
    host, guest
        (k,) rows of the job table, one entry for each interval with a constant quota.
    quota
        (k,) quota of the guest, %.
    start, end
        (k,) start and end of the interval, s.
    why
        (k,) the policy's reason for the quota.
    evicted
        Number of guests and former guests that were requeued, because their hosts needed the memory, the head of the
        queue needed the processors, or the policy decided so.
    decisions
        Number of decisions of the policy.
    """

    host: NDArray[np.int64]
    guest: NDArray[np.int64]
    quota: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    why: tuple[str, ...]
    evicted: int
    decisions: int
