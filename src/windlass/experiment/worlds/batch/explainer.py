"""Explanation of one job's wait on one site: the run is repeated up to the job's start and recorded."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, ClassVar

import numpy as np

from windlass.experiment.worlds.batch.estimates import ByHistory, exact, users_of
from windlass.experiment.worlds.batch.partitions import parts_of
from windlass.experiment.worlds.batch.pools import pools_of, request_of
from windlass.experiment.worlds.batch.spec import BatchSetting
from windlass.io.traces import Workload
from windlass.model import InputError
from windlass.order.site import POLICIES, SitePolicy
from windlass.order.site.ownership import half_life_of, placed
from windlass.order.site.reservation import after, promises
from windlass.order.site.view import SiteView, Start, Waiting
from windlass.report.waiting import ExplainedWait
from windlass.results.explanation import Moment, StartExplanation, WaitExplanation
from windlass.sim.site.replay import replay


class BatchExplainer:
    """Repeats a run of rigid jobs, see :class:`windlass.experiment.worlds.Explainer`.

    Each decision is made by the policy's ``decide``, which the policy checks hold equal to its compiled function.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> tree = {"workload": {"lublin": {}}, "policies": {"order": "easy"}}
    >>> jobs = JobTable.of(submit=[0, 1, 2], run=[60, 50, 40], procs=[3, 4, 1])
    >>> found = BatchExplainer().waited(BatchSetting.model_validate(tree), 1, Workload(jobs, 4), job=2)
    >>> found.start, [each.promise for each in found.moments], found.moments[1].started[0].why
    (60.0, [60.0, 60.0, 60.0, nan], 'backfilled, ends before the head can start')
    """

    def explained(
        self, setting: BatchSetting, seed: int, workload: Workload, row: dict[str, Any]
    ) -> ExplainedWait:
        """Explain the wait of the job with this row of the table."""
        return ExplainedWait(self.waited(setting, seed, workload, row["job"]))

    def waited(self, setting: BatchSetting, seed: int, workload: Workload, job: int) -> WaitExplanation:
        """Explain the wait of a job.

        Raises
        ------
        InputError
            The workload has no such job.
        """
        if not (workload.jobs.job == job).any():
            raise InputError(f"job {job} is not among the {len(workload.jobs):,} of the workload")
        draws = [seed, 1]
        # A job bound to a partition waits only for jobs of that partition.
        for number, _, part in parts_of(workload, setting.cluster.partitions):
            if (part.jobs.job == job).any():
                workload, draws = part, [seed, 1, number]
                break
        jobs, kill = workload.jobs, setting.kill_at_walltime
        row = int(np.flatnonzero(jobs.job == job)[0])
        made = setting.policies.order.make(POLICIES, np.random.default_rng(draws))
        made, owners = placed(made, workload.of.owners(len(jobs)), workload.of.queues)
        watch = _Watch(made, job)
        policy: Any = watch
        if setting.estimates == "history":
            policy = ByHistory(watch, jobs, users_of(workload), kill=kill)
        known = exact(jobs, kill) if setting.estimates == "perfect" else jobs
        pools = pools_of(workload, setting.cluster.extra)
        with contextlib.suppress(_JobStarted):
            replay(known, workload.processors, policy, kill=kill, owners=owners, pools=pools)
        last = watch.moments[-1]
        explained = WaitExplanation(
            job=job,
            procs=int(jobs.procs[row]),
            processors=workload.processors,
            submit=float(jobs.submit[row]),
            start=last.at,
            request=float(jobs.request[row]),
            expected=watch.expected,
            why=next(each.why for each in last.started if each.job == job),
            moments=tuple(watch.moments),
            beside=() if pools is None else request_of(pools, row),
            calendar=workload.calendar,
        )
        return dataclasses.replace(explained, job_ids=_ids(workload, explained.mentioned()))


def _ids(workload: Workload, jobs: frozenset[int]) -> dict[int, str]:
    """Return the identifiers of these jobs in the log, by number; empty if they have numbers only."""
    if workload.ids is None:
        return {}
    rows = np.flatnonzero(np.isin(workload.jobs.job, list(jobs))).tolist()
    return {int(workload.jobs.job[row]): workload.name_of(row) for row in rows}


class _JobStarted(Exception):  # noqa: N818
    """Ends the repeated run once the job has started."""


class _Watch:
    """A wrapper that records a waiting job's view of each decision, and ends the run when the job starts."""

    name: ClassVar[str] = "watched"

    def __init__(self, policy: SitePolicy, job: int) -> None:
        self._policy, self._job, self.half_life = policy, job, half_life_of(policy)
        self._before: frozenset[int] = frozenset()
        self.moments: list[Moment] = []
        self.expected = np.nan

    def decide(self, view: SiteView) -> Start:
        answer = self._policy.decide(view)
        places = np.flatnonzero(view.waiting.job == self._job)
        if len(places):
            self.expected = float(view.waiting.request[places[0]])
            self.moments.append(self._moment(view, answer, int(places[0])))
            if self._job in answer.jobs:
                raise _JobStarted
        return answer

    def _moment(self, view: SiteView, answer: Start, place: int) -> Moment:
        waiting, then = view.waiting, after(view, answer)
        place_of = {number: each for each, number in enumerate(waiting.job.tolist())}
        started = tuple(
            StartExplanation(int(number), int(waiting.procs[place_of[number]]), place_of[number] < place, why)
            for number, why in zip(answer.jobs, answer.reasons(), strict=True)
        )
        running = frozenset(view.running.job.tolist())
        ended, self._before = self._before - running, frozenset(then.running.job.tolist())
        return Moment(
            at=float(view.now),
            place=place,
            idle=int(view.free),
            left=int(then.free),
            running=len(running),
            ended=tuple(sorted(ended)),
            started=started,
            promise=float(promises(self._policy, view, answer)[place]),
            short=_short(then, waiting, place) if view.pool_names and self._job not in answer.jobs else (),
        )


def _short(then: SiteView, waiting: Waiting, place: int) -> tuple[str, ...]:
    """Return the resources of which the site has less idle than the waiting job requests."""
    lacking = [waiting.procs[place] > then.free, *(waiting.needs[:, place] > then.pools).tolist()]
    return tuple(name for name, lacks in zip(("processors", *then.pool_names), lacking, strict=True) if lacks)
