"""When the batch jobs of a load at one site waited and ran, with the attempts that lost their cores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.sim.site.result import Replay

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class JobAttempt:
    """One wait of a job and the run that followed.

    Parameters
    ----------
    queued, start, end
        When it entered the queue, started, and ended or lost its cores, s.
    lost
        Whether it lost its cores.
    """

    queued: float
    start: float
    end: float
    lost: bool


@dataclass(frozen=True, slots=True, eq=False)
class LoadAttempts:
    """All attempts of all jobs, in order of their start.

    Parameters
    ----------
    row
        (a,) row of the job.
    queued, start, end
        (a,) as in :class:`JobAttempt`, s.
    lost
        (a,) whether the job lost its cores.
    """

    row: _Ints
    queued: _Floats
    start: _Floats
    end: _Floats
    lost: NDArray[np.bool_]

    @staticmethod
    def of(replay: Replay) -> LoadAttempts:
        """Return the attempts of a finished run.

        >>> from windlass.model import JobTable
        >>> jobs = JobTable.of(submit=[0.0], run=[5.0], procs=[1])
        >>> done = Replay(jobs, 4, np.array([9.0]), np.array([14.0]), np.array([0]), ("",),
        ...     np.array([0]), np.array([1.0]), np.array([3.0]))
        >>> [(each.queued, each.start, each.lost) for each in LoadAttempts.of(done).of_job(0)]
        [(0.0, 1.0, True), (3.0, 9.0, False)]
        """
        count = len(replay.jobs)
        row = np.concatenate([replay.lost, np.arange(count)])
        start = np.concatenate([replay.lost_start, replay.start])
        end = np.concatenate([replay.lost_end, replay.end])
        lost = np.arange(len(row)) < len(replay.lost)
        order = np.lexsort((row, start))
        row, start, end, lost = row[order], start[order], end[order], lost[order]
        queued, last = np.empty(len(row)), replay.jobs.submit.copy()
        for place, of in enumerate(row.tolist()):
            queued[place] = last[of]
            last[of] = end[place]
        return LoadAttempts(row, queued, start, end, lost)

    def of_job(self, row: int) -> Iterator[JobAttempt]:
        """Return the attempts of a job."""
        for place in np.flatnonzero(self.row == row):
            yield JobAttempt(
                float(self.queued[place]),
                float(self.start[place]),
                float(self.end[place]),
                bool(self.lost[place]),
            )

    def waiting(self, at: float) -> _Ints:
        """Return the attempts that wait at the end of an instant, s."""
        return np.flatnonzero((self.queued <= at) & ~(self.start <= at))

    def running(self, at: float) -> _Ints:
        """Return the attempts that run at the end of an instant, s."""
        return np.flatnonzero((self.start <= at) & ~(self.end <= at))

    def started(self, since: float, until: float) -> _Ints:
        """Return the attempts that started from ``since`` to before ``until``, s."""
        return np.flatnonzero((self.start >= since) & (self.start < until))

    def ahead(self, places: _Ints, queued: float, row: int) -> _Ints:
        """Return those of some attempts that entered the queue before one of a job with this row."""
        earlier = (self.queued[places] < queued) | (
            (self.queued[places] == queued) & (self.row[places] < row)
        )
        found: _Ints = places[earlier]
        return found
