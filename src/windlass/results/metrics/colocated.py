"""Metrics of rigid jobs and small tasks that share the nodes of a site."""

from __future__ import annotations

from dataclasses import dataclass, field

from windlass.results import HIGHER, LOWER, OF_JOBS, OF_TASKS
from windlass.results.metrics.site import batch_metrics
from windlass.sim.site.result import Replay
from windlass.sim.workers.result import Dispatched


@dataclass(frozen=True, slots=True)
class ColocatedMetrics:
    """Metrics of jobs and tasks together, and the cost of each to the other.

    Parameters
    ----------
    jobs
        Number of jobs.
    mean_job_wait_s
        Time from submission to the start of the attempt that completed, s.
    mean_job_bounded_slowdown
        Mean of max(1, response / max(run time, 10 s)).
    utilisation
        Share of all nodes' core-seconds that completed attempts held, from the first submission to the last end.
    lost_attempts
        Attempts that were killed because their cores were removed.
    lost_core_s
        Core-seconds that the lost attempts held.
    tasks
        Number of tasks.
    mean_task_response_s, p99_task_response_s
        Time from arrival to end, s; for tasks that arrive together, to the end of the last one.
    moved_tasks
        Tasks that lost their node and were dispatched again.
    added_job_wait_s
        Mean wait of jobs minus their mean wait without tasks, s. It is 0, because tasks reserve no cores.
    mean_task_stretch, p99_task_stretch
        Response of tasks over their response without jobs.
    """

    jobs: int
    mean_job_wait_s: float = field(metadata={**LOWER, **OF_JOBS})
    mean_job_bounded_slowdown: float = field(metadata=LOWER)
    utilisation: float = field(metadata=HIGHER)
    lost_attempts: int = field(metadata=LOWER)
    lost_core_s: float = field(metadata=LOWER)
    tasks: int
    mean_task_response_s: float = field(metadata={**LOWER, **OF_TASKS})
    p99_task_response_s: float = field(metadata=LOWER)
    moved_tasks: int
    added_job_wait_s: float = field(metadata=LOWER)
    mean_task_stretch: float = field(metadata=LOWER)
    p99_task_stretch: float = field(metadata=LOWER)


@dataclass(frozen=True, slots=True)
class Responses:
    """Mean and 99th percentile of the response of tasks, s."""

    mean: float
    p99: float


def responses(done: Dispatched) -> Responses:
    """Return the mean and the 99th percentile of the response of tasks.

    Examples
    --------
    >>> from windlass.dispatch import simulate
    >>> done = simulate("jsq", [1.0], load=0.5, tasks=100, seed=1)
    >>> responses(done).mean == done.mean
    True
    """
    return Responses(done.mean, done.percentile(99))


def mean_wait(done: Replay) -> float:
    """Return the mean wait of jobs, s.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> from windlass.sim import replay
    >>> mean_wait(replay(JobTable.of(submit=[0, 0], run=[4, 4], procs=[1, 1]), 1, Fcfs()))
    2.0
    """
    return float((done.start - done.jobs.submit).mean())


def colocated_metrics(
    jobs: Replay, tasks: Dispatched, jobs_alone_wait: float, tasks_alone: Responses
) -> ColocatedMetrics:
    """Return the metrics of jobs and tasks together, compared with a run of each alone.

    Parameters
    ----------
    jobs, tasks
        Results of the run in which they shared the site.
    jobs_alone_wait
        Mean wait of the same jobs without tasks, s.
    tasks_alone
        Responses of the same tasks without jobs.

    Examples
    --------
    >>> from windlass.dispatch import simulate
    >>> from windlass.model import JobTable
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> from windlass.sim import replay
    >>> jobs = replay(JobTable.of(submit=[0, 0], run=[4, 4], procs=[1, 1]), 1, Fcfs())
    >>> tasks = simulate("jsq", [1.0], load=0.5, tasks=100, seed=1)
    >>> found = colocated_metrics(jobs, tasks, jobs_alone_wait=2.0, tasks_alone=responses(tasks))
    >>> found.added_job_wait_s, found.mean_task_stretch, found.utilisation
    (0.0, 1.0, 1.0)
    """
    batch = batch_metrics(jobs.jobs.submit, jobs.start, jobs.end, jobs.jobs.procs, jobs.processors)
    both = responses(tasks)
    return ColocatedMetrics(
        jobs=batch.jobs,
        mean_job_wait_s=batch.mean_wait_s,
        mean_job_bounded_slowdown=batch.mean_bounded_slowdown,
        utilisation=batch.utilisation,
        lost_attempts=len(jobs.lost),
        lost_core_s=float(((jobs.lost_end - jobs.lost_start) * jobs.jobs.procs[jobs.lost]).sum()),
        tasks=len(tasks.response),
        mean_task_response_s=both.mean,
        p99_task_response_s=both.p99,
        moved_tasks=tasks.moved,
        added_job_wait_s=batch.mean_wait_s - jobs_alone_wait,
        mean_task_stretch=both.mean / tasks_alone.mean,
        p99_task_stretch=both.p99 / tasks_alone.p99,
    )
