"""Who shared with whom, at what quota and when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """What happened to those that shared.

    Parameters
    ----------
    host, guest
        (k,) rows of the job table, a line for each time in which a quota stood.
    quota
        (k,) percent.
    start, end
        (k,) since when and until when it stood, s.
    why
        (k,) the policy's reason for it.
    evicted
        How many guests, and jobs that had been, were put back in the queue: their hosts needed the memory, or the head
        of the queue the processors.
    decisions
        How often the policy was asked.
    """

    host: NDArray[np.int64]
    guest: NDArray[np.int64]
    quota: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    why: tuple[str, ...]
    evicted: int
    decisions: int
