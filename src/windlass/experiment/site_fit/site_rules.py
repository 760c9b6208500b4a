"""The quantities of a site that a log does not state, and the replay of a log under them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import Workload
from windlass.model import JobTable, Owners
from windlass.order.site import POLICIES
from windlass.order.site.ownership import placed
from windlass.sim.site.replay import replay

_HOUR_S, _WEEK_S = 3600.0, 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class SiteRules:
    """How a site orders its queue, and what holds jobs back besides other jobs.

    Parameters
    ----------
    processors
        Processors that jobs can use; wider jobs use all of them.
    latency
        Time from the decision to start a job to its start, s; the job holds its processors meanwhile.
    priority, backfill
        The order of the queue, as in the policy ``queue``.
    limits
        Parameters of the policy ``limited`` other than these; empty for a site without limits.

    Examples
    --------
    >>> SiteRules(4, limits={"jobs_per_user": 2}).policy().name, SiteRules(4).policy().name
    ('limited', 'easy')
    """

    processors: int
    latency: float = 0.0
    priority: str | Mapping[str, Any] = "fcfs"
    backfill: str = "easy"
    limits: Mapping[str, Any] = field(default_factory=dict)

    def with_limits(self, **limits: Any) -> SiteRules:
        """Return the same site with more limits; infinity, and an empty text, stand for none."""
        found = {**self.limits, **limits}
        return dataclasses.replace(
            self, limits={name: value for name, value in found.items() if value not in (math.inf, "")}
        )

    def policy(self) -> PolicySpec:
        """Return the policy that orders the queue of such a site."""
        order = {"priority": self.priority, "backfill": self.backfill}
        if self.limits:
            return PolicySpec(name="limited", parameters={**order, **self.limits})
        if order == {"priority": "fcfs", "backfill": "easy"}:
            return PolicySpec(name="easy")
        return PolicySpec(name="queue", parameters=order)

    def waits(self, workload: Workload) -> NDArray[np.float64]:
        """Return (n,) the wait of each job in a replay on this site, s.

        Jobs run for as long as in the log, even where that exceeds the request.

        Parameters
        ----------
        workload
            The jobs.

        Examples
        --------
        >>> jobs = JobTable.of(submit=[0, 5], run=[10, 10], procs=[4, 4])
        >>> SiteRules(4, latency=2.0).waits(Workload(jobs, 4)).tolist()
        [2.0, 9.0]
        """
        jobs, own = workload.jobs, self._clock(workload.jobs)
        order = np.argsort(np.concatenate([own.submit, jobs.submit]), kind="stable")
        procs = np.minimum(jobs.procs, self.processors)
        table = JobTable.of(
            submit=np.concatenate([own.submit, jobs.submit])[order],
            run=np.concatenate([own.run, jobs.run + self.latency])[order],
            procs=np.concatenate([own.procs, procs])[order],
            request=np.concatenate([own.request, jobs.request + self.latency])[order],
        )
        made, known = self.policy().make(POLICIES, np.random.default_rng(1)), workload.of.owners(len(jobs))
        added = np.full(len(own), -1)
        numbers = (np.concatenate([added, each])[order] for each in (known.user, known.group, known.queue))
        ready, owners = placed(made, Owners.of(len(table), *numbers), workload.of.queues)
        # The first of the added jobs holds a processor that the site does not have.
        done = replay(table, self.processors + min(1, len(own)), ready, kill=False, owners=owners)
        start = np.empty(len(table))
        start[order] = done.start
        return start[len(own) :] + self.latency - jobs.submit

    def _clock(self, jobs: JobTable) -> JobTable:
        """Return jobs that make the site decide when closed hours end; empty if it has none.

        The first one runs throughout, because a site without running jobs ignores closed hours. The others run for an
        instant at each opening, until two weeks after the last submission.
        """
        closed = self.limits.get("closed")
        if closed is None or not len(jobs):
            return jobs.take(np.empty(0, np.int64))
        ends = np.array([float(part.partition("-")[2]) for part in str(closed).split()]) * _HOUR_S
        weeks = np.arange(jobs.submit[0] // _WEEK_S, jobs.submit[-1] // _WEEK_S + 3) * _WEEK_S
        opens = (weeks[:, None] + ends).ravel()
        opens = opens[opens >= jobs.submit[0]]
        run = np.concatenate([[opens[-1] - jobs.submit[0]], np.zeros(len(opens))])
        return JobTable.of(np.concatenate([jobs.submit[:1], opens]), run, np.ones(len(run), np.int64))
