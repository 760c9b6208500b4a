"""When will this job start? The answer for a job of a log, or for one that might be submitted."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from windlass.experiment.start_times.calibration import ReplayedWait, WaitForecast
from windlass.experiment.start_times.history import SiteHistory
from windlass.experiment.start_times.proposed import ProposedJob, with_job
from windlass.experiment.start_times.replays import planned_starts, replayed_starts
from windlass.experiment.start_times.start_check import (
    DRAWS,
    StartCheck,
    check_starts,
    forecast_of,
    wait_quantiles,
)
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import Workload
from windlass.model import InputError
from windlass.order.site import POLICIES, SitePolicy
from windlass.order.site.ownership import placed
from windlass.sim.site.replay import replay

#: Earlier jobs whose predictions calibrate an interval.
CHECKED = 300
#: They are among this many submissions before the question.
_AMONG = 3000


@dataclass(frozen=True, slots=True)
class StartAnswer:
    """When a job starts.

    Parameters
    ----------
    job
        Its identifier in the log; empty for a proposed job.
    at
        The instant of the prediction, s.
    ahead
        Jobs that waited then and were submitted before this one.
    running
        Jobs that ran then.
    forecast
        The remaining wait, s.
    level
        Share of such waits that the interval shall contain.
    planned
        The remaining wait by Slurm's rule (``squeue --start``), s.
    waited
        The actual remaining wait, s, if the schedule has it; else None.
    checked
        The predictions of earlier jobs by which the interval is calibrated; None if too few jobs have started.
    """

    job: str
    at: float
    ahead: int
    running: int
    forecast: WaitForecast
    level: float
    planned: float
    waited: float | None
    checked: StartCheck | None


def history_of(workload: Workload, policy: PolicySpec, *, recorded: bool, seed: int = 1) -> SiteHistory:
    """Return the jobs of a log with the recorded starts, or with those under a policy.

    Parameters
    ----------
    workload
        The log's jobs.
    policy
        The policy of the simulated schedule.
    recorded
        Whether to use the log's own starts.
    seed
        Seed of a policy that draws.

    Raises
    ------
    InputError
        ``recorded``, and the log lacks a job's wait.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 5], run=[10, 10], procs=[4, 4])
    >>> history_of(Workload(jobs, 4), PolicySpec(name="easy"), recorded=False).start.tolist()
    [0.0, 10.0]
    """
    jobs = workload.jobs
    if not recorded:
        ready, owners = placed(
            policy.make(POLICIES, np.random.default_rng(seed)),
            workload.of.owners(len(jobs)),
            workload.of.queues,
        )
        done = replay(jobs, workload.processors, ready, owners=owners)
        return SiteHistory(workload, done.start, done.end)
    if workload.wait is None or np.isnan(workload.wait).any():
        unknown = len(jobs) if workload.wait is None else int(np.isnan(workload.wait).sum())
        raise InputError(
            f"the log lacks the wait of {unknown:,} of {len(jobs):,} jobs, expected all of them for its recorded"
            " schedule; simulate the schedule instead"
        )
    start = jobs.submit + workload.wait
    return SiteHistory(workload, start, start + jobs.run)


def row_of(workload: Workload, name: str) -> int:
    """Return the row of the job with this identifier in the log, or else with this number.

    Raises
    ------
    InputError
        No job, or several, have the name.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> row_of(Workload(JobTable.of(submit=[0, 5], run=[1, 1], procs=[1, 1], job=[7, 9]), 4), "9")
    1
    """
    found: list[int] = []
    if workload.ids is not None:
        found = (workload.ids == name).arg_true().to_list()
    if not found and name.isdecimal() and len(name) < 19:
        found = np.flatnonzero(workload.jobs.job == int(name)).tolist()
    if len(found) != 1:
        jobs = f"{len(found)} jobs" if found else "no job"
        raise InputError(
            f"job {name}: {jobs} of the log's {len(workload.jobs):,} have this name, expected one"
        )
    return found[0]


class StartPredictor:
    """Predicts when jobs of a site start.

    Parameters
    ----------
    history
        The site's jobs, with the starts that happened.
    policy
        The policy of the replays: the one that orders the site's queue, or one that is close to it.
    level
        Share of the waits that an interval shall contain.
    draws
        Replays of a prediction.
    seed
        Seed of the drawn run times and arrivals.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 5, 8], run=[10, 10, 10], procs=[4, 4, 1])
    >>> spec = PolicySpec(name="easy")
    >>> predictor = StartPredictor(history_of(Workload(jobs, 4), spec, recorded=False), spec)
    >>> answer = predictor.job(1)
    >>> answer.ahead, answer.running, answer.forecast.median, answer.waited
    (0, 1, 5.0, 5.0)
    >>> predictor.like(ProposedJob(procs=1, request=60), at=6.0).forecast.median
    14.0
    """

    def __init__(
        self,
        history: SiteHistory,
        policy: PolicySpec,
        *,
        level: float = 0.9,
        draws: int = DRAWS,
        seed: int = 1,
    ) -> None:
        if not 0 < level < 1:
            raise InputError(f"level is {level}, expected a share above 0 and below 1")
        self._history, self._policy = history, policy
        self._level, self._draws, self._seed = level, draws, seed

    def check(
        self, count: int = CHECKED, before: float = np.inf, progress: Callable[[int], None] | None = None
    ) -> StartCheck:
        """Predict earlier jobs at their submission, and compare.

        Parameters
        ----------
        count
            Number of jobs, at regular places among the last 3,000 that were submitted before, or among ten times
            ``count`` if these are more.
        before
            The instant before which they started, s.
        progress
            Called with the number of jobs predicted so far.
        """
        jobs = self._history.workload.jobs
        if np.isnan(before):
            raise InputError("before is nan, expected a time")
        among = np.flatnonzero((jobs.submit < before) & (self._history.start < before))[
            -max(_AMONG, 10 * count) :
        ]
        places = np.linspace(0, max(len(among) - 1, 0), min(count, len(among))).astype(np.int64)
        rows = among[np.unique(places)]
        return check_starts(
            self._history,
            self._make,
            rows.tolist(),
            level=self._level,
            draws=self._draws,
            seed=self._seed,
            progress=progress,
        )

    def job(self, row: int, at: float | None = None, checked: StartCheck | None = None) -> StartAnswer:
        """Predict a job of the log, at an instant while it waits; by default at its submission.

        Parameters
        ----------
        row
            The job's row.
        at
            The instant, s.
        checked
            Earlier predictions, from :meth:`check`; None for an interval that is not calibrated.

        Raises
        ------
        InputError
            The job does not wait at that instant.
        """
        history, jobs = self._history, self._history.workload.jobs
        now = float(jobs.submit[row]) if at is None else at
        name, start = history.workload.name_of(row), float(history.start[row])
        if not jobs.submit[row] <= now <= start:
            raise InputError(
                f"job {name} does not wait at {now:g} s: it was submitted at {jobs.submit[row]:g} s"
                f" and started at {start:g} s, expected an instant between these"
            )
        answer = self._answer(history, row, now, name, checked)
        return dataclasses.replace(answer, waited=start - now if np.isfinite(start) else None)

    def like(
        self, job: ProposedJob, at: float | None = None, checked: StartCheck | None = None
    ) -> StartAnswer:
        """Predict a job that might be submitted at an instant; by default after the last submission of the log.

        Raises
        ------
        InputError
            The job is wider than the site.
        """
        workload = self._history.workload
        if job.procs > workload.processors:
            raise InputError(
                f"procs is {job.procs}, expected at most the site's processors, {workload.processors}"
            )
        now = float(workload.jobs.submit[-1]) if at is None else at
        if not np.isfinite(now):
            raise InputError(f"at is {now} s, expected a finite time")
        history = with_job(self._history, job, now)
        return self._answer(history, len(history) - 1, now, "", checked)

    def waiting(self, at: float, checked: StartCheck | None = None) -> pl.DataFrame:
        """Predict all jobs that wait at an instant, from one set of replays.

        Parameters
        ----------
        at
            The instant, s.
        checked
            Earlier predictions, from :meth:`check`; None for intervals that are not calibrated.

        Returns
        -------
        polars.DataFrame
            A row per waiting job, in order of submission: ``job``, ``submit_s``, ``procs``, ``request_s``, and the
            remaining wait, ``low_s``, ``median_s``, ``high_s``, and ``planned_s`` by Slurm's rule.
        """
        history, jobs = self._history, self._history.workload.jobs
        state = history.at(at)
        rows, rng = state.waiting, np.random.default_rng([self._seed, len(jobs)])
        starts = replayed_starts(history, state, self._make, self._draws, rng)
        given = wait_quantiles(starts - at)
        if checked is not None:
            like = np.column_stack((jobs.procs[rows], jobs.request[rows]))
            given = checked.calibration.corrected_rows(np.hstack((given, like)))
        low, median, high = given.T
        return pl.DataFrame(
            {
                "job": [history.workload.name_of(row) for row in rows.tolist()],
                "submit_s": jobs.submit[rows],
                "procs": jobs.procs[rows],
                "request_s": jobs.request[rows],
                "low_s": low,
                "median_s": median,
                "high_s": high,
                "planned_s": planned_starts(history, state) - at,
            },
            schema_overrides={"job": pl.String},
        )

    def _make(self, rng: np.random.Generator) -> SitePolicy:
        made: SitePolicy = self._policy.make(POLICIES, rng)
        return made

    def _answer(
        self, history: SiteHistory, row: int, now: float, name: str, checked: StartCheck | None
    ) -> StartAnswer:
        state = history.at(now)
        place = int(np.flatnonzero(state.waiting == row)[0])
        rng = np.random.default_rng([self._seed, row])
        raw = forecast_of(replayed_starts(history, state, self._make, self._draws, rng)[place] - now)
        ready = checked is not None and checked.calibration.ready(raw)
        jobs = history.workload.jobs
        replayed = ReplayedWait(raw, int(jobs.procs[row]), float(jobs.request[row]))
        given = raw if checked is None else checked.calibration.corrected([replayed])[0]
        planned = float(planned_starts(history, state)[place] - now)
        return StartAnswer(
            name,
            now,
            place,
            len(state.running),
            given,
            self._level,
            planned,
            None,
            checked if ready else None,
        )
