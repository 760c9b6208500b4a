"""Run times that a job may have, drawn from what similar jobs used of their requests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.start_times.history import SiteHistory

#: Ended jobs from which run times are drawn, at most.
RECENT = 4000
#: Similar jobs that must have ended; with fewer, those of the user count, or else those of the site.
ENOUGH = 4
_ROUNDS = 6


class RunTimes:
    """The shares of their requests that jobs used, as known at an instant.

    A job's share is drawn from jobs of the same user with the same request and processors; with less than four of
    these, from jobs of the user, or else from all jobs. The share of a running job is drawn among those that are
    longer than the job has run.

    Parameters
    ----------
    history
        The jobs.
    now
        The instant, s; only jobs that have ended by then are used.

    Examples
    --------
    >>> from windlass.io.traces import Workload
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 0, 9], run=[5, 5, 7], procs=[1, 1, 1], request=[10, 10, 20])
    >>> history = SiteHistory(Workload(jobs, 3), np.array([0.0, 0.0, 9.0]), np.array([5.0, 5.0, np.inf]))
    >>> RunTimes(history, 9.0).draw(np.array([2]), np.zeros(1), 3, np.random.default_rng(1)).tolist()
    [[10.0, 10.0, 10.0]]
    """

    def __init__(self, history: SiteHistory, now: float) -> None:
        jobs = history.workload.jobs
        self._request = jobs.request
        ended = history.ended(now, RECENT)
        request = jobs.request[ended]
        held = history.end[ended] - history.start[ended]
        self._shares = np.where(request > 0, np.minimum(held / np.where(request > 0, request, 1), 1.0), 1.0)
        levels = history.similar
        self._pools = tuple(_Pool(codes, ended) for codes in levels)

    def draw(
        self, rows: NDArray[np.int64], age: NDArray[np.float64], draws: int, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return (k, draws) run times, s, each longer than the job's age and at most its request.

        Parameters
        ----------
        rows
            (k,) the jobs.
        age
            (k,) time for which each has run, s; 0 for one that waits.
        draws
            Number of run times for each job.
        rng
            The generator.
        """
        request = self._request[rows][:, None]
        if not len(self._shares):
            shares = np.ones((len(rows), draws))
        else:
            shares = self._shares[self._members(rows, rng.random((len(rows), draws)))]
        for attempt in range(_ROUNDS):
            row, draw = np.nonzero(shares * request <= age[:, None])
            if not len(row) or not len(self._shares):
                break
            again = rng.random(len(row))
            if attempt < _ROUNDS // 2:
                shares[row, draw] = self._shares[self._members(rows[row], again[:, None])[:, 0]]
            else:
                shares[row, draw] = self._shares[(again * len(self._shares)).astype(np.int64)]
        found = shares * request
        late = found <= age[:, None]
        # No ended job tells how long such a job runs: any time up to its request is as likely as any other.
        left = np.maximum(request - age[:, None], 1.0)
        return np.where(late, age[:, None] + left * rng.random(found.shape), found)

    def _members(self, rows: NDArray[np.int64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
        first, count = self._pools[0].of(rows)
        place = self._pools[0]
        members = place.pick(first, count, uniform)
        for pool in self._pools[1:]:
            few = count < ENOUGH
            first, found = pool.of(rows)
            members = np.where(few[:, None], pool.pick(first, found, uniform), members)
            count = np.where(few, found, count)
        few = count < ENOUGH
        return np.where(few[:, None], (uniform * len(self._shares)).astype(np.int64), members)


class _Pool:
    """Ended jobs by a code that similar jobs share."""

    def __init__(self, codes: NDArray[np.int64], ended: NDArray[np.int64]) -> None:
        self._codes = codes
        own = codes[ended]
        self._order = np.argsort(own, kind="stable")
        counts = np.bincount(own, minlength=int(codes.max(initial=0)) + 1)
        self._counts, self._first = counts, np.cumsum(counts) - counts

    def of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        codes = self._codes[rows]
        return self._first[codes], self._counts[codes]

    def pick(
        self, first: NDArray[np.int64], count: NDArray[np.int64], uniform: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        if not len(self._order):
            return np.zeros(uniform.shape, np.int64)
        place = first[:, None] + (uniform * count[:, None]).astype(np.int64)
        return self._order[np.minimum(place, len(self._order) - 1)]
