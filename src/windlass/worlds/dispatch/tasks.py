"""Small tasks as a scenario names them: what to draw, and when they arrive and how large they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.traces.llm import read_llm
from windlass.workloads.arrivals import Bursty, arrival_times
from windlass.workloads.service import Pareto, mean_size, task_sizes
from windlass.worlds.dispatch.spec import WorkloadSpec


@dataclass(frozen=True, slots=True, eq=False)
class Tasks:
    """Arrivals and sizes as :func:`windlass.sim.workers.simulate.simulate` takes them.

    Parameters
    ----------
    count, per_job
        How many there are, and how many of them arrive together as a job.
    load
        Work that arrives over work that all workers can do; None where arrivals are times.
    arrivals, service
        What to draw, or times, s, and sizes.
    last
        About when the last one arrives, s.
    """

    count: int
    per_job: int
    load: float | None
    arrivals: Any
    service: Any
    last: float


@dataclass(frozen=True, slots=True, eq=False)
class DrawnTasks:
    """Tasks with their times and sizes.

    Parameters
    ----------
    submit, work
        (t,) when each arrives, s, and its work.
    schedulers
        Seeds the generator that draws which scheduler gets each job.
    """

    submit: NDArray[np.float64]
    work: NDArray[np.float64]
    schedulers: np.random.SeedSequence


def tasks_of(spec: WorkloadSpec, capacity: float) -> Tasks:
    """Read the requests, or say what to draw.

    Parameters
    ----------
    spec
        Of the scenario.
    capacity
        What all workers can do together, work/s.

    Raises
    ------
    InputError
        The log of requests cannot be read.

    Examples
    --------
    >>> tasks_of(WorkloadSpec(tasks=100, load=0.5), capacity=4.0).last
    50.0
    """
    if spec.llm is not None:
        requests = read_llm(spec.llm)
        count = min(spec.tasks, len(requests.arrival))
        sizes = requests.work()[:count]
        span = max(float(requests.arrival[count - 1]), 1e-9)
        stretch = float(sizes.sum()) / (spec.load * capacity * span) if capacity > 0 else 1.0
        arrivals = requests.arrival[:count] * stretch
        return Tasks(count, 1, None, arrivals, sizes, float(arrivals[-1]))
    arrivals_spec = Bursty() if spec.arrivals == "bursty" else "poisson"
    service = Pareto() if spec.service == "pareto" else spec.service
    last = spec.tasks / (spec.load * capacity) if capacity > 0 else 0.0
    return Tasks(spec.tasks, spec.tasks_per_job, spec.load, arrivals_spec, service, last)


def draw_tasks(tasks: Tasks, capacity: float, seed: int) -> DrawnTasks:
    """Draw the tasks that :func:`~windlass.sim.workers.simulate.simulate` draws with this seed, to the bit.

    Parameters
    ----------
    tasks
        What to draw.
    capacity
        What all workers can do together, work/s.
    seed
        As of that simulation.

    Examples
    --------
    >>> from windlass.dispatch import simulate
    >>> tasks = tasks_of(WorkloadSpec(tasks=100, load=0.5), capacity=4.0)
    >>> drawn = draw_tasks(tasks, capacity=4.0, seed=1)
    >>> bool((drawn.submit == simulate("pot", np.ones(4), 0.5, 100, seed=1).submit).all())
    True
    """
    arrivals, service, _, schedulers = np.random.SeedSequence(seed).spawn(4)
    work = task_sizes(tasks.service, tasks.count, np.random.default_rng(service))
    size = mean_size(tasks.service, work)
    rate = 0.0 if tasks.load is None else float(tasks.load * capacity / (size * tasks.per_job))
    jobs = tasks.count // tasks.per_job
    submit = arrival_times(tasks.arrivals, rate, jobs, np.random.default_rng(arrivals))
    if tasks.per_job > 1:
        submit = np.repeat(submit, tasks.per_job)
    return DrawnTasks(submit, work, schedulers)
