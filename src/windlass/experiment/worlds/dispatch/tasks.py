"""The small tasks of a scenario: arrivals and sizes, or the parameters for generating them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from windlass.experiment.workloads.arrivals import Bursty
from windlass.experiment.workloads.service import Pareto
from windlass.experiment.workloads.tasks import DrawnTasks, draw_tasks
from windlass.experiment.worlds.dispatch.spec import DispatchWorkloadSpec
from windlass.io.traces.llm import read_llm
from windlass.sim.workers.result import Dispatched


@dataclass(frozen=True, slots=True, eq=False)
class DispatchTasks:
    """Arrivals and sizes, as arguments of :func:`windlass.experiment.dispatching.simulate`.

    Parameters
    ----------
    count, per_job
        Number of tasks, and of tasks that arrive together as a job.
    load
        Arriving work over the rate of all workers; None if arrivals are times.
    arrivals, service
        Laws to generate from, or times, s, and sizes.
    last
        Approximate arrival of the last task, s.
    notes
        Notes on a log of requests for the user.
    """

    count: int
    per_job: int
    load: float | None
    arrivals: Any
    service: Any
    last: float
    notes: tuple[str, ...] = ()

    def drawn(self, capacity: float, seed: int) -> DrawnTasks:
        """Generate the tasks for workers with this rate, work/s."""
        return draw_tasks(
            self.count,
            self.load,
            self.arrivals,
            self.service,
            tasks_per_job=self.per_job,
            capacity=capacity,
            seed=seed,
        )


def tasks_table(done: Dispatched, per_job: int, every: int = 1) -> pl.DataFrame:
    """Return a row per task.

    Parameters
    ----------
    done
        The tasks, with recorded starts and workers.
    per_job
        Number of tasks of a job.
    every
        Number of tasks for each one in the table.
    """
    shown = slice(None, None, every)
    return pl.DataFrame(
        {
            "job": np.arange(0, len(done.submit), every) // per_job,
            "submit_s": done.submit[shown],
            "start_s": done.start[shown],
            "end_s": done.end[shown],
            "worker": done.worker[shown],
        }
    )


def with_procs(tasks: pl.DataFrame) -> pl.DataFrame:
    """Return a table of tasks with the processors of each, as in tables of jobs."""
    return tasks.insert_column(4, pl.Series("procs", np.ones(len(tasks), np.int64)))


def sampled(tasks: pl.DataFrame, every: int) -> pl.DataFrame:
    """Return a table of one in ``every`` tasks with the number that each stands for; unchanged if it has all.

    >>> sampled(pl.DataFrame({"job": [0]}), 10).row(0), sampled(pl.DataFrame({"job": [0]}), 1).columns
    ((0, 10), ['job'])
    """
    return tasks if every == 1 else tasks.with_columns(stands_for=pl.lit(every, pl.Int64))


def tasks_of(spec: DispatchWorkloadSpec, capacity: float) -> DispatchTasks:
    """Read the requests, or return the parameters for generating tasks.

    Parameters
    ----------
    spec
        The scenario's workload.
    capacity
        Rate of all workers, work/s.

    Raises
    ------
    InputError
        The log of requests cannot be read.

    Examples
    --------
    >>> tasks_of(DispatchWorkloadSpec(tasks=100, load=0.5), capacity=4.0).last
    50.0
    """
    if spec.llm is not None:
        requests = read_llm(spec.llm)
        count = min(spec.tasks, len(requests.arrival))
        sizes = requests.work()[:count]
        span = max(float(requests.arrival[count - 1]), 1e-9)
        stretch = float(sizes.sum()) / (spec.load * capacity * span) if capacity > 0 else 1.0
        arrivals = requests.arrival[:count] * stretch
        note = (
            f"times between requests of the log are multiplied by {stretch:.4g} to reach the load, so that the report "
            "has no dates"
        )
        return DispatchTasks(count, 1, None, arrivals, sizes, float(arrivals[-1]), (note,))
    arrivals_spec = Bursty() if spec.arrivals == "bursty" else "poisson"
    service = Pareto() if spec.service == "pareto" else spec.service
    last = spec.tasks / (spec.load * capacity) if capacity > 0 else 0.0
    return DispatchTasks(spec.tasks, spec.tasks_per_job, spec.load, arrivals_spec, service, last)
