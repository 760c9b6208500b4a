"""A simulation of many small tasks on workers with queues: one dispatch decision per task.

Workers have a FIFO queue and a low-priority lane; speeds change, workers fail and return. See
:mod:`windlass.sim.workers.state` for the parts, :mod:`windlass.sim.workers.loop` for the loop.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch import POLICIES, Dimensioned, DispatchPolicy, Probing
from windlass.dispatch.context import DispatchContext
from windlass.drive import drive
from windlass.experiment.workloads.tasks import draw_tasks
from windlass.model import InputError
from windlass.model.timetable import WorkerTimetable
from windlass.model.values import checked_rates, number, whole
from windlass.policy.registry import capability
from windlass.sim.coupled import SinglePart
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.result import Dispatched
from windlass.sim.workers.setup import Setup

#: The most benchmark tasks in a worker's queue.
LANE = 8


def make_policy(
    name: str,
    speeds: NDArray[np.float64],
    rng: np.random.Generator,
    guaranteed: float | None = None,
    /,
    **parameters: Any,
) -> Any:
    """Create a policy for these workers; constructor arguments such as rates are filled in from their speeds.

    Parameters
    ----------
    name
        Its name, or the file that holds it.
    speeds
        (n,) work/s.
    rng
        The policy's random generator.
    guaranteed
        Total rate that the workers have at any time, work/s; None for the sum of their speeds.
    parameters
        Further arguments, which take precedence over those filled in.

    Examples
    --------
    >>> make_policy("ppot", np.array([1.0, 2.0]), np.random.default_rng(1)).workers
    2
    """
    return POLICIES.make(name, DispatchContext.of(speeds, rng, guaranteed), **parameters)


def simulate(
    policy: DispatchPolicy | str,
    speeds: object,
    load: float | None = None,
    tasks: int = 100_000,
    seed: int = 0,
    *,
    arrivals: object = "poisson",
    service: object = "exponential",
    tasks_per_job: int = 1,
    timetable: WorkerTimetable | None = None,
    schedulers: int = 1,
    probe_delay: float = 0.0,
    fetch_delay: float = 0.0,
    probe_trip: float = 0.0,
    count_sent: bool = False,
    sizes_known: bool = False,
    lane: int = LANE,
    samples: int = 100,
    record: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Dispatched:
    """Dispatch tasks to workers with a policy, until all are completed.

    Parameters
    ----------
    policy
        A policy, which is copied, or a name, with rates, workers and guarantee filled in from ``speeds``.
    speeds
        (n,) each worker's speed at time 0, work/s; not negative, not all 0.
    load
        Arriving work over the rate of all workers; above 1 queues grow without bound. None only for replayed
        arrivals.
    tasks
        Number of tasks, a multiple of ``tasks_per_job``.
    seed
        The random seed; workload, policy and schedulers have separate streams, so that the workload does not depend
        on the policy.
    arrivals
        Arrivals of jobs: ``"poisson"``, :class:`~windlass.experiment.workloads.arrivals.Bursty`, or times, s.
    service
        Work per task: ``"exponential"`` or ``"fixed"`` (mean 1),
        :class:`~windlass.experiment.workloads.service.Pareto`, or sizes.
    tasks_per_job
        Number of tasks of a job, which arrive together; the job ends with the last of them.
    timetable
        Changes and failures of workers; None for none.
    schedulers
        Number of independent schedulers; each job is submitted to a random one.
    probe_delay
        Age of the queue lengths that schedulers see, and delay of workers' reports to schedulers that did not
        send the task, s.
    fetch_delay
        How long a worker waits for a task that it requests, s: a round trip to the scheduler, during which the worker
        is idle, unless it requests the task ahead. Policies that bind at once have no such delay.
    probe_trip
        Round trip of a probe, s. A task of a policy that is :class:`~windlass.dispatch.Probing` is dispatched this many
        times ``probe_trips`` after its arrival, and the policy sees queue lengths that are at least half a trip old.
        Its reports to other schedulers are as late.
    count_sent
        Whether a scheduler adds the tasks that it sent within the last ``probe_delay`` to the queue lengths that it
        sees.
    sizes_known
        Whether a completed task's work is known, unlike on live engines; if not, each counts as 1.
    lane
        The most benchmark tasks in a worker's queue; more are dropped.
    samples
        Number of samples until the last arrival, evenly spaced.
    record
        Whether to record the worker and the start of each task.
    progress
        Called at intervals with the number of completed tasks.

    Raises
    ------
    InputError
        An argument is invalid, and the error names it; or no worker will ever run the remaining tasks.
    PolicyError
        The policy chose a worker that does not exist.

    Examples
    --------
    >>> simulate("ppot", np.ones(4), load=0.5, tasks=20_000, seed=1).mean < 2.0
    True
    """
    setup = Setup(
        speeds=_checked_speeds(speeds),
        timetable=WorkerTimetable.none() if timetable is None else timetable,
        schedulers=whole("schedulers", schedulers, 1),
        probe_delay=number("probe_delay", probe_delay, 0.0),
        sizes_known=bool(sizes_known),
        lane=whole("lane", lane, 1),
        samples=whole("samples", samples, 0),
        record=bool(record),
        tasks_per_job=whole("tasks_per_job", tasks_per_job, 1),
        fetch_delay=number("fetch_delay", fetch_delay, 0.0),
        count_sent=bool(count_sent),
    )
    drawn = draw_tasks(
        whole("tasks", tasks, 1),
        load,
        arrivals,
        service,
        tasks_per_job=tasks_per_job,
        capacity=float(setup.speeds.sum()),
        seed=whole("seed", seed, 0),
    )
    chosen = _policy(policy, setup.speeds, np.random.default_rng(drawn.policy))
    rng = np.random.default_rng(drawn.schedulers)
    trip, probing = number("probe_trip", probe_trip, 0.0), capability(chosen, Probing)
    wait = 0.0 if probing is None else trip * probing.probe_trips
    if probing is not None and trip > 0.0:
        setup = dataclasses.replace(setup, probe_delay=max(setup.probe_delay, trip / 2))
    submit = drawn.submit + wait if wait > 0.0 else drawn.submit
    part = WorkersPart(setup, chosen, submit, drawn.work, rng, progress=progress)
    dispatched: Dispatched = drive(SinglePart(part), {"dispatch": chosen})
    return _submitted(dispatched, drawn.submit, wait) if wait > 0.0 else dispatched


def _submitted(done: Dispatched, submit: NDArray[np.float64], wait: float) -> Dispatched:
    """Return the result of tasks that were submitted earlier than they were dispatched, by a wait, s."""
    return dataclasses.replace(
        done, submit=submit, response=done.response + wait, job_response=done.job_response + wait
    )


def _checked_speeds(speeds: object) -> NDArray[np.float64]:
    try:
        return checked_rates(speeds)
    except ValueError as error:
        raise InputError(str(error).replace("rates", "speeds", 1)) from error


def _policy(
    policy: DispatchPolicy | str, speeds: NDArray[np.float64], rng: np.random.Generator
) -> DispatchPolicy:
    chosen: DispatchPolicy = make_policy(policy, speeds, rng) if isinstance(policy, str) else policy
    made = capability(chosen, Dimensioned)
    if made is not None and made.workers not in (None, len(speeds)):
        raise InputError(f"speeds has {len(speeds)} workers, but the policy was made for {made.workers}")
    return chosen
