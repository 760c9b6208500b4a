"""Jobs of one site with their starts and ends, and the state of the site at an instant."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces import Workload
from windlass.model import InputError


@dataclass(frozen=True, slots=True, eq=False)
class SiteSnapshot:
    """Which jobs run and which wait at an instant.

    Parameters
    ----------
    now
        The instant, s.
    running
        (r,) rows of the jobs that hold processors, in the order in which they started.
    waiting
        (w,) rows of the jobs that were submitted and have not started, in order of submission.
    """

    now: float
    running: NDArray[np.int64]
    waiting: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SiteHistory:
    """Jobs of one site and when each started and ended, as recorded or as simulated.

    Parameters
    ----------
    workload
        The jobs, in order of submission, and the site's processors.
    start, end
        (n,) s; infinity for a job that has not started, or not ended.

    Raises
    ------
    InputError
        A column has the wrong length, a job starts before its submission, or ends before its start.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 1, 2], run=[10, 10, 10], procs=[2, 2, 2])
    >>> history = SiteHistory(Workload(jobs, 4), np.array([0.0, 1.0, 10.0]), np.array([10.0, 11.0, 20.0]))
    >>> state = history.at(5.0)
    >>> state.running.tolist(), state.waiting.tolist()
    ([0, 1], [2])
    """

    workload: Workload
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    #: (n,) codes of similar jobs, the closest first: same user, request and processors; same user.
    similar: tuple[NDArray[np.int64], ...] = field(init=False, repr=False)
    _by_end: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        jobs = self.workload.jobs
        for name, column in (("start", self.start), ("end", self.end)):
            if column.shape != (len(jobs),):
                raise InputError(f"history: {name} has shape {column.shape}, expected ({len(jobs)},)")
        for name, early in (("start", self.start < jobs.submit), ("end", self.end < self.start)):
            if not (~early).all() or np.isnan(getattr(self, name)).any():
                row = int(np.argmax(early | np.isnan(getattr(self, name))))
                raise InputError(
                    f"history: job {self.workload.name_of(row)}, {name} is {getattr(self, name)[row]} s, expected"
                    f" submission <= start <= end"
                )
        object.__setattr__(self, "_by_end", np.argsort(self.end, kind="stable"))
        user = np.zeros(len(jobs), np.int64) if self.workload.users is None else self.workload.users
        columns = np.column_stack([user, jobs.procs, jobs.request])
        alike = np.unique(columns, axis=0, return_inverse=True)[1].ravel()
        owned = np.unique(user, return_inverse=True)[1].ravel()
        object.__setattr__(self, "similar", (alike, owned))

    def __len__(self) -> int:
        return len(self.start)

    @property
    def held(self) -> NDArray[np.float64]:
        """(n,) time for which each job held its processors, s; infinity for one that has not ended."""
        return np.where(
            np.isfinite(self.end), self.end - np.where(np.isfinite(self.start), self.start, 0), np.inf
        )

    def at(self, now: float) -> SiteSnapshot:
        """Return the state just before the decisions of an instant: jobs that end or arrive then have done so."""
        submit = self.workload.jobs.submit
        known = int(np.searchsorted(submit, now, side="right"))
        start, end = self.start[:known], self.end[:known]
        running = np.flatnonzero((start < now) & (end > now))
        waiting = np.flatnonzero(start >= now)
        return SiteSnapshot(now, running[np.argsort(start[running], kind="stable")], waiting)

    def ended(self, now: float, most: int) -> NDArray[np.int64]:
        """Return the rows of the last ``most`` jobs that ended at or before an instant, in order of their end."""
        last = int(np.searchsorted(self.end[self._by_end], now, side="right"))
        return self._by_end[max(0, last - most) : last]
