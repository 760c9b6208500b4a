"""Short tasks of one site, which run on the cores that its nodes and instances have idle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from windlass.experiment.workloads.arrivals import Bursty, arrival_times
from windlass.experiment.workloads.service import Pareto, task_sizes
from windlass.experiment.workloads.streams import RandomStreams
from windlass.experiment.worlds.contents import Content
from windlass.experiment.worlds.dispatch.spec import DispatchWorkloadSpec
from windlass.experiment.worlds.dispatch.tasks import tasks_of
from windlass.experiment.worlds.spec import NotNegative, Positive, Sizes
from windlass.io.traces.llm import read_llm


class ShortTasksSpec(DispatchWorkloadSpec):
    """Short tasks as in the dispatch world, spread over the simulated time.

    ``tasks`` is their number at each site. ``load`` is their work over that of the site's nodes without instances,
    which sets their mean size; neighbours at the site leave less. ``schedulers`` to ``sizes``: as in the world
    ``dispatch``.
    ``guaranteed``: the share of that rate on which policies with benchmark tasks count; by default, the ``floor``.
    """

    load: Positive = 0.04
    schedulers: Annotated[int, Field(ge=1)] = 1
    probe_delay: NotNegative = 0.0
    fetch_delay: NotNegative = 0.0
    count_sent: bool = False
    sizes: Sizes = "hidden"
    guaranteed: Annotated[float, Field(gt=0, le=1)] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ShortTasks:
    """The short tasks of one site.

    Parameters
    ----------
    submit, work
        (t,) arrival of each, s, in order, and its work.
    per_job
        Number of tasks that arrive together as a job.
    last
        Approximate arrival of the last task, s.
    schedulers
        Seed of the assignment of jobs to schedulers; None for a stream of its own.
    notes
        Notes on a log of requests for the user.
    """

    submit: NDArray[np.float64]
    work: NDArray[np.float64]
    per_job: int
    last: float
    schedulers: np.random.SeedSequence | None = None
    notes: tuple[str, ...] = ()

    @property
    def content(self) -> Content:
        """The number of tasks, and about when they arrive."""
        return Content("task", len(self.submit), 0.0, self.last)


def draw_short_tasks(
    spec: ShortTasksSpec, capacity: float, seconds: float, streams: RandomStreams, name: str
) -> ShortTasks:
    """Read the requests or generate the tasks; the last one arrives at the end of the simulated time, if it has one.

    Parameters
    ----------
    spec
        The tasks.
    capacity
        Rate of the site's nodes, work/s.
    seconds
        The simulated time; infinite if the load sets the time in which the tasks arrive.
    streams, name
        The random streams, and the load's name with its site.

    Raises
    ------
    InputError
        The log of requests cannot be read.

    Examples
    --------
    >>> drawn = draw_short_tasks(ShortTasksSpec(tasks=100, load=0.5), 8.0, 60.0, RandomStreams(1), "web@iowa")
    >>> float(drawn.submit[-1]), round(float(drawn.work.sum()), 6) == 0.5 * 8.0 * 60.0
    (60.0, True)
    """
    if math.isinf(seconds):
        given = tasks_of(spec, capacity)
        drawn = given.drawn(capacity, streams.seed_of(name))
        return ShortTasks(drawn.submit, drawn.work, given.per_job, given.last, drawn.schedulers, given.notes)
    if spec.llm is not None:
        requests = read_llm(spec.llm)
        submit, work = requests.arrival[: spec.tasks], requests.work()[: spec.tasks]
    else:
        jobs = spec.tasks // spec.tasks_per_job
        law = Bursty() if spec.arrivals == "bursty" else spec.arrivals
        submit = arrival_times(law, jobs / seconds, jobs, streams.stream(f"arrivals.{name}"))
        service = Pareto() if spec.service == "pareto" else spec.service
        work = task_sizes(service, spec.tasks, streams.stream(f"sizes.{name}"))
    stretched = np.repeat(submit * (seconds / max(float(submit[-1]), 1e-9)), spec.tasks_per_job)
    scaled = work * (spec.load * capacity * seconds / work.sum())
    return ShortTasks(stretched, scaled, spec.tasks_per_job, seconds)
