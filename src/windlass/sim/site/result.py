"""What happened to the jobs of a site."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.model import JobTable


@dataclass(frozen=True, slots=True)
class Replay:
    """What happened to each job, in the order of the job table, and which attempts were lost.

    Parameters
    ----------
    jobs
        What was replayed.
    processors
        On how many, at the beginning.
    start, end
        (n,) s, of the attempt that ended.
    why
        (n,) int64, index into ``reasons``: why the policy started the job when it did.
    reasons
        The policy's reasons.
    lost, lost_start, lost_end
        (m,) attempts that were killed since their cores were taken away: the job's row, and s.
    held
        (l, 4) what each attempt took where, where that was recorded: the job's row, a node of the site, cores, and when
        the attempt began, s.
    """

    jobs: JobTable
    processors: int
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    why: NDArray[np.int64]
    reasons: tuple[str, ...]
    lost: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    lost_start: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    lost_end: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    held: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 4)))
