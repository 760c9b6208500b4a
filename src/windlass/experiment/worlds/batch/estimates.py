"""Estimated run times: the requested time, the mean of the user's last jobs, or the exact time."""

from __future__ import annotations

import dataclasses
import heapq
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces import Workload
from windlass.model import InputError, JobTable, Owners
from windlass.order.site import SitePolicy
from windlass.order.site.ownership import half_life_of, placed
from windlass.order.site.view import Running, SiteView, Start

#: Successive extensions of the estimate of a job that outlives it, s; after the last one, the requested time is used.
#: The steps are those of the source below.
PROLONGED = tuple(60.0 * minutes for minutes in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000))


#: The run times that policies expect: those that jobs request, predicted ones, or the true ones.
Estimates = Literal["requested", "history", "perfect"]


@dataclass(frozen=True, slots=True, eq=False)
class OrderedJobs:
    """Jobs with the run times that a policy expects, the policy, and the owners that it sees."""

    jobs: JobTable
    policy: SitePolicy
    owners: Owners


def ordered_jobs(policy: SitePolicy, workload: Workload, estimates: Estimates, *, kill: bool) -> OrderedJobs:
    """Prepare a policy for the jobs and the owners of a run.

    Parameters
    ----------
    policy
        The policy.
    workload
        The jobs.
    estimates
        The run times that the policy expects.
    kill
        Whether jobs are killed at their request.

    Raises
    ------
    InputError
        Run times are predicted by user, and the jobs have no users.

    Examples
    --------
    >>> from windlass.order.site.policies.easy import Easy
    >>> jobs = Workload(JobTable.of(submit=[0], run=[5], procs=[1], request=[60]), 4)
    >>> ordered_jobs(Easy(), jobs, "perfect", kill=True).jobs.request.tolist()
    [5.0]
    """
    jobs = workload.jobs
    # Of any type, as the wrapper has the name of the policy that it wraps.
    ready: Any
    ready, owners = placed(policy, workload.of.owners(len(jobs)), workload.of.queues)
    if estimates == "history":
        ready = ByHistory(ready, jobs, users_of(workload), kill=kill)
    return OrderedJobs(exact(jobs, kill) if estimates == "perfect" else jobs, ready, owners)


def exact(jobs: JobTable, kill: bool) -> JobTable:
    """Return the same jobs, with the exact time for which they will hold their processors as the request.

    Examples
    --------
    >>> exact(JobTable.of(submit=[0, 0], run=[5, 9], procs=[1, 1], request=[7, 7]), kill=True).request.tolist()
    [5.0, 7.0]
    """
    held = np.minimum(jobs.run, jobs.request) if kill else jobs.run
    return dataclasses.replace(jobs, run=held, request=held.copy())


def users_of(workload: Workload) -> NDArray[np.int64]:
    """Return the user of each job, (n,).

    Raises
    ------
    InputError
        The jobs have no users.
    """
    if workload.users is None:
        raise InputError("estimates is history, expected a log that names the user of each job")
    return workload.users


class ByHistory:
    """A wrapper that gives a policy predicted run times: the mean of the user's last two completed jobs.

    A job is predicted when it is submitted, and never above its request. If its user has fewer than two completed jobs,
    or is unknown, the request is used. When a job outlives its prediction, the prediction is extended at the next
    decision by the next of ``PROLONGED``, up to the request. Jobs are still killed only at their request, so a
    prediction that is too short never kills a job. The policy's promises hold as far as the predictions do.

    The wrapper stores completed jobs, so each run needs its own.

    Parameters
    ----------
    policy
        The wrapped policy.
    jobs
        All jobs of the run, in order of submission.
    users
        (n,) the user of each, -1 if unknown.
    kill
        Whether jobs are killed at their request.

    Source: Tsafrir, Etsion and Feitelson, "Backfilling using system-generated predictions rather than user runtime
    estimates", IEEE TPDS 18(6), 2007, sections 3 and 4.

    Examples
    --------
    >>> from windlass.order.site.policies.easy import Easy
    >>> from windlass.sim import replay
    >>> jobs = JobTable.of(submit=[0, 0, 9, 9, 9], run=[4, 2, 9, 9, 3], procs=[1, 1, 1, 2, 1], request=[9] * 5)
    >>> policy = ByHistory(Easy(), jobs, np.array([7, 7, 8, 8, 7]), kill=True)
    >>> replay(jobs, 2, policy).start.tolist()
    [0.0, 0.0, 9.0, 18.0, 9.0]
    """

    def __init__(self, policy: SitePolicy, jobs: JobTable, users: NDArray[np.int64], *, kill: bool) -> None:
        self.name, self.half_life = policy.name, half_life_of(policy)
        self._policy, self._request = policy, jobs.request
        self._held = np.minimum(jobs.run, jobs.request) if kill else jobs.run
        self._users = users.tolist()
        self._row_of = {number: row for row, number in enumerate(jobs.job.tolist())}
        self._expected = np.full(len(jobs), np.nan)
        self._end, self._limit = np.full((2, len(jobs)), np.nan)
        self._step = np.zeros(len(jobs), np.int64)
        self._ends: list[tuple[float, int]] = []
        self._last: defaultdict[int, deque[float]] = defaultdict(lambda: deque(maxlen=2))

    def decide(self, view: SiteView) -> Start:
        """Return the policy's decision for the same site with predicted run times."""
        while self._ends and self._ends[0][0] <= view.now:
            row = heapq.heappop(self._ends)[1]
            self._last[self._users[row]].append(float(self._held[row]))
        rows = self._rows(view.waiting.job)
        for row in rows[np.isnan(self._expected[rows])].tolist():
            self._expected[row] = self._predicted(row)
        running = self._rows(view.running.job)
        late = [row for row in running.tolist() if self._prolong(row, view.now)]
        answer = self._policy.decide(
            dataclasses.replace(
                view,
                waiting=dataclasses.replace(view.waiting, request=self._expected[rows]),
                running=Running.of(
                    view.running.job,
                    view.running.procs,
                    self._end[running],
                    view.running.user,
                    view.running.group,
                    view.running.named_queue,
                    view.running.needs,
                ),
                # Promises must be recomputed if a running job is now expected to end later.
                refused=0 if late else view.refused,
            )
        )
        for row in self._rows(answer.jobs).tolist():
            self._end[row], self._limit[row] = view.now + self._expected[row], view.now + self._request[row]
            heapq.heappush(self._ends, (view.now + float(self._held[row]), row))
        return answer

    def _rows(self, numbers: object) -> NDArray[np.int64]:
        return np.array([self._row_of[number] for number in np.asarray(numbers).tolist()], dtype=np.int64)

    def _predicted(self, row: int) -> float:
        last, request = self._last[self._users[row]], float(self._request[row])
        known = len(last) == 2 and self._users[row] >= 0
        return min(request, sum(last) / 2) if known else request

    def _prolong(self, row: int, now: float) -> bool:
        """Extend the prediction of a job that outlived it; return whether it was extended."""
        late = False
        while self._end[row] <= now and self._end[row] < self._limit[row]:
            step = int(self._step[row])
            more = PROLONGED[step] if step < len(PROLONGED) else np.inf
            self._end[row], self._step[row] = min(self._limit[row], self._end[row] + more), step + 1
            late = True
        return late
