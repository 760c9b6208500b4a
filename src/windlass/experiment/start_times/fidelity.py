"""How well a replay of a site's recent past meets what happened: it has the same jobs, and the policy's own starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.start_times.history import SiteHistory, SiteSnapshot
from windlass.experiment.start_times.replays import DrawnFuture, starts_in
from windlass.experiment.worlds.policy import PolicySpec
from windlass.order.site import POLICIES

_HOUR_S = 3_600.0


@dataclass(frozen=True, slots=True)
class WaitComparison:
    """Waits as recorded and as replayed, over the jobs that were submitted in a time and started in both.

    Parameters
    ----------
    since
        Begin of the time, s.
    jobs
        Number of jobs.
    recorded, replayed
        Mean waits, s; NaN without a job.
    difference
        Mean absolute difference of the starts, s; NaN without a job.
    """

    since: float
    jobs: int
    recorded: float
    replayed: float
    difference: float


@dataclass(frozen=True, slots=True)
class ReplayedPast:
    """A replay of the recent past, compared with what happened.

    Parameters
    ----------
    until
        End of the past, s.
    whole
        All jobs that waited at its begin or were submitted later.
    hours
        By the hour of the submission, the first one first; jobs that waited at the begin are in the first one.
    only_recorded, only_replayed
        Jobs that have started in one of them only.
    """

    until: float
    whole: WaitComparison
    hours: tuple[WaitComparison, ...]
    only_recorded: int
    only_replayed: int


def replayed_past(history: SiteHistory, since: float, until: float, policy: PolicySpec) -> ReplayedPast:
    """Replay a site from its state at ``since`` to ``until`` (s), and compare the starts with those of the history.

    The replay begins with the jobs that ran and waited then. Jobs arrive when they did, and run as long as they did;
    jobs that have not ended run for what they requested.

    Parameters
    ----------
    history
        The site's jobs up to ``until``, and its processors.
    since, until
        The past, s.
    policy
        The policy that orders the queue.

    Raises
    ------
    InputError
        The policy does not exist.

    Examples
    --------
    >>> from windlass.io.traces import Workload
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 1, 2], run=[10, 30, 5], procs=[4, 4, 4])
    >>> started = np.array([0.0, 10.0, 40.0])
    >>> history = SiteHistory(Workload(jobs, 4), started, started + jobs.run)
    >>> found = replayed_past(history, 0.5, 50.0, PolicySpec(name="fcfs"))
    >>> found.whole.jobs, found.whole.recorded, found.whole.difference
    (2, 23.5, 0.0)
    >>> found = replayed_past(history, 0.5, 50.0, PolicySpec(name="sjf"))
    >>> found.whole.replayed, found.whole.difference
    (11.0, 17.5)
    """
    jobs, state = history.workload.jobs, history.at(since)
    arrived = np.flatnonzero((jobs.submit > since) & (jobs.submit <= until))
    # The arrivals are known, so that they are waiting jobs that are submitted later.
    waiting = np.concatenate([state.waiting, arrived])
    run = np.where(np.isfinite(history.end), history.held, jobs.request)
    still = ~np.isfinite(history.end) & np.isfinite(history.start)
    run[still] = np.maximum(run[still], until - history.start[still])
    future = DrawnFuture(run[state.running], run[waiting], np.empty(0, np.int64), np.empty(0), np.empty(0))
    recorded = history.start[waiting]
    if len(waiting):
        own = policy.make(POLICIES, np.random.default_rng(1))
        replayed = starts_in(history, SiteSnapshot(since, state.running, waiting), future, own)
    else:
        replayed = np.empty(0)
    here, there = recorded <= until, replayed <= until
    both = here & there
    submit = jobs.submit[waiting]

    def compared(rows: NDArray[np.bool_], begin: float) -> WaitComparison:
        chosen = np.flatnonzero(rows & both)
        if not len(chosen):
            return WaitComparison(begin, 0, np.nan, np.nan, np.nan)
        first, second = recorded[chosen], replayed[chosen]
        return WaitComparison(
            begin,
            len(chosen),
            float((first - submit[chosen]).mean()),
            float((second - submit[chosen]).mean()),
            float(np.abs(first - second).mean()),
        )

    hour = np.maximum((submit - since) // _HOUR_S, 0)
    count = int((until - since) // _HOUR_S) + 1
    return ReplayedPast(
        until,
        compared(np.ones(len(waiting), np.bool_), since),
        tuple(compared(hour == each, since + each * _HOUR_S) for each in range(count)),
        int((here & ~there).sum()),
        int((there & ~here).sum()),
    )
