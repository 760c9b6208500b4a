"""Random small tasks: arrivals and work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.workloads.arrivals import Bursty, arrival_times
from windlass.experiment.workloads.service import mean_size, task_sizes
from windlass.model import InputError
from windlass.model.values import number


@dataclass(frozen=True, slots=True, eq=False)
class DrawnTasks:
    """Tasks with their arrivals and work, and seeds for the run.

    Parameters
    ----------
    submit, work
        (t,) arrival of each, s, and its work.
    policy, schedulers
        Seeds of the policy's generator, and of the assignment of jobs to schedulers.
    """

    submit: NDArray[np.float64]
    work: NDArray[np.float64]
    policy: np.random.SeedSequence
    schedulers: np.random.SeedSequence


def draw_tasks(
    tasks: int,
    load: float | None,
    arrivals: object,
    service: object,
    *,
    tasks_per_job: int,
    capacity: float,
    seed: int,
) -> DrawnTasks:
    """Generate tasks; each random quantity has its own stream, so that the tasks do not depend on the policy.

    Parameters
    ----------
    tasks
        Number of tasks, a multiple of ``tasks_per_job``, which arrive together.
    load
        Arriving work over the rate of all workers; None if arrivals are times.
    arrivals, service
        Laws to draw from, or times, s, and sizes: see :func:`~windlass.experiment.workloads.arrivals.arrival_times` and
        :func:`~windlass.experiment.workloads.service.task_sizes`.
    capacity
        Rate of all workers, work/s.
    seed
        The random seed.

    Raises
    ------
    InputError
        An argument is invalid; the error names it.

    Examples
    --------
    >>> drawn = draw_tasks(100, 0.5, "poisson", "fixed", tasks_per_job=1, capacity=4.0, seed=1)
    >>> len(drawn.submit), drawn.work.tolist() == [1.0] * 100
    (100, True)
    """
    if tasks % tasks_per_job:
        raise InputError(f"tasks is {tasks}, expected a multiple of tasks_per_job, {tasks_per_job}")
    times, sizes, policy, schedulers = np.random.SeedSequence(seed).spawn(4)
    work = task_sizes(service, tasks, np.random.default_rng(sizes))
    rate = _job_rate(load, arrivals, capacity, mean_size(service, work) * tasks_per_job)
    submit = arrival_times(arrivals, rate, tasks // tasks_per_job, np.random.default_rng(times))
    if tasks_per_job > 1:
        submit = np.repeat(submit, tasks_per_job)
    return DrawnTasks(submit, work, policy, schedulers)


def _job_rate(load: float | None, arrivals: object, capacity: float, work: float) -> float:
    """Return the jobs per second that give the load, given the mean work of a job."""
    if not isinstance(arrivals, str | Bursty):
        if load is not None:
            raise InputError(f"load is {load}, expected None if arrival times are given")
        return 0.0
    if load is None:
        raise InputError("load is None, expected a number above 0 unless arrivals are times")
    return float(number("load", load, 0.0, open_below=True) * capacity / work)
