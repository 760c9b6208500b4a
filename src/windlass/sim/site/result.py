"""The result of a site: the schedule of its jobs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.model import JobTable


@dataclass(frozen=True, slots=True)
class Replay:
    """The schedule of each job, in the order of the job table, and the killed attempts.

    Parameters
    ----------
    jobs
        The jobs.
    processors
        Processors of the site at full capacity.
    start, end
        (n,) s, of the attempt that ended.
    why
        (n,) int64, index into ``reasons``: the policy's reason for starting the job.
    reasons
        The policy's reasons.
    lost, lost_start, lost_end
        (m,) attempts that were killed when they lost their cores: the job's row, start and end (s).
    held
        (l, 4) the cores that each attempt took, if recorded: the job's row, a node of the site, cores, start (s).
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
