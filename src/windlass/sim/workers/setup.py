"""The arguments of a dispatch simulation, the state made from them, and the result read from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch.compiled import CompiledDispatch
from windlass.dispatch.state import BENCHMARK_AT, CENTRAL, COPIES, LISTENS, RATES_AT, make_state
from windlass.jit.schema import allocate, grown
from windlass.model import InputError
from windlass.model.timetable import TAKE_SAMPLE, WorkerTimetable
from windlass.sim.events.tree import make_tree
from windlass.sim.workers.result import Dispatched
from windlass.sim.workers.state import LINE, NONE, REFUSED_END, WorkersProgress, WorkersSettings, WorkersState

_FIRST_LOG = 4096
#: Axes that are empty unless the part spills tasks.
_OF_SPILL = ("own_tasks", "own_senders", "origins", "guests", "outbox", "targets", "group")


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """The validated arguments of :func:`~windlass.experiment.dispatching.simulate`, which documents them."""

    speeds: NDArray[np.float64]
    timetable: WorkerTimetable
    schedulers: int
    probe_delay: float
    sizes_known: bool
    lane: int
    samples: int
    record: bool
    tasks_per_job: int
    fetch_delay: float = 0.0
    count_sent: bool = False

    def result(self, state: WorkersState, name: str) -> Dispatched:
        """Return the result, once all tasks have run; it takes the place of the ends in the state."""
        progress = WorkersProgress.of(state.progress)
        if progress.refused > 0:
            state.end[state.end == REFUSED_END] = np.nan
        # A new array would cost some nanoseconds for each task.
        response = np.subtract(state.end, state.submit, out=state.end)
        per_job = self.tasks_per_job
        sampled = progress.next_sample
        return Dispatched(
            policy=name,
            submit=state.submit,
            response=response,
            job_response=response if per_job == 1 else response.reshape(-1, per_job).max(axis=1),
            longest_queue=progress.longest_queue,
            sample_time=_sample_times(self.samples, state.submit[-1])[:sampled],
            longest=state.longest[:sampled],
            waiting=state.waiting[:sampled],
            estimates=state.estimates[:sampled],
            benchmarks=progress.benchmarks,
            dropped=progress.dropped,
            moved=progress.moved,
            start=state.start,
            worker=state.worker,
            refusals=progress.refused,
        )


def make_workers(
    setup: Setup,
    policy: CompiledDispatch | None,
    submit: NDArray[np.float64],
    work: NDArray[np.float64],
    rng: np.random.Generator,
) -> WorkersState:
    """Return workers and tasks at the beginning of a simulation.

    Parameters
    ----------
    setup
        The arguments.
    policy
        The policy, with a state that is copied once per scheduler; None for a policy in Python.
    submit, work
        (t,) when tasks arrive, s, and their work.
    rng
        Draws the scheduler of each job, and the random streams of schedulers after the first.

    Raises
    ------
    InputError
        A change of a worker that does not exist, or several schedulers with a policy in Python.
    """
    workers, tasks = len(setup.speeds), len(submit)
    if len(setup.timetable.worker) and setup.timetable.worker.max() >= workers:
        raise InputError(f"timetable: worker {setup.timetable.worker.max()}, expected 0 to {workers - 1}")
    ints, floats = _policy_state(setup, policy, rng)
    settings = _settings(setup, policy, copies=int(ints[0, COPIES]))
    late = ints[0, COPIES] > 0
    learns = policy is not None and ints[0, LISTENS] and ints[0, RATES_AT] >= 0
    delayed = setup.probe_delay > 0
    views = setup.schedulers if _counts_sent(setup) else 0
    nodes = tasks * max(int(ints[0, COPIES]), 1)
    lows = (setup.lane + 1) * workers if np.isfinite(floats[:, BENCHMARK_AT]).any() else 0
    sender = _senders(setup, tasks, rng)
    job, next_task, end_task = _jobs(setup, policy, tasks)
    changes = setup.timetable + _sample_rows(_sample_times(setup.samples, submit[-1]))
    length = np.zeros(workers, np.int64)
    sizes = {
        "workers": workers,
        "tasks": tasks,
        "recorded": tasks if setup.record else 0,
        "senders": len(sender),
        "views": views,
        "nodes": nodes + lows,
        "low_nodes": lows,
        "reservations": nodes if late else 0,
        "bound_tasks": len(job),
        "jobs": len(next_task),
        "tasks_ahead": tasks if settings[0]["requests_ahead"] else 0,
        "schedulers": setup.schedulers,
        "ints": ints.shape[1],
        "floats": floats.shape[1],
        "changes": len(changes.time),
        "samples": setup.samples,
        "rates": workers if learns else 0,
        "log": _FIRST_LOG if delayed else 0,
        **dict.fromkeys(_OF_SPILL, 0),
    }
    return allocate(
        WorkersState,
        sizes,
        tree=make_tree(workers),
        settings=settings,
        progress=_progress(workers, tasks, nodes if lows else NONE),
        line=_idle_lines(setup.speeds),
        base=setup.speeds.copy(),
        length=length,
        known_length=length.copy() if delayed else length,
        after=links(nodes, lows),
        submit=submit,
        work=work,
        sender=sender,
        job=job,
        next_task=next_task,
        end_task=end_task,
        change_time=changes.time,
        change_kind=changes.kind,
        change_worker=changes.worker,
        change_value=changes.value,
        ints=ints,
        floats=floats,
    )


def with_more_log(state: WorkersState) -> WorkersState:
    """Return the same state with a log twice as long."""
    progress = WorkersProgress.of(state.progress)
    state.log[:] = np.roll(state.log, -progress.log_first)
    progress.log_first = 0
    return grown(state, log=2 * len(state.log))


def _policy_state(
    setup: Setup, policy: CompiledDispatch | None, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return (k, …) the policy's state for each scheduler; only its header for a policy in Python."""
    if policy is not None:
        return policy.split(setup.schedulers, rng)
    if setup.schedulers > 1:
        raise InputError(f"schedulers is {setup.schedulers}, expected 1 with a policy that is not compiled")
    ints, floats = make_state(len(setup.speeds), None)
    return ints.reshape(1, -1), floats.reshape(1, -1)


def _counts_sent(setup: Setup) -> bool:
    """Return whether schedulers add what they sent; lengths that are known at once include it."""
    return setup.count_sent and setup.probe_delay > 0.0


def _settings(setup: Setup, policy: CompiledDispatch | None, copies: int) -> NDArray[np.void]:
    array = WorkersSettings.array()
    settings = WorkersSettings.of(array)
    settings.probe_delay = setup.probe_delay
    settings.late_binding, settings.copies = int(copies > 0), max(copies, 1)
    settings.count_sent = int(_counts_sent(setup))
    settings.central, settings.waits = int(copies == CENTRAL), int(copies != 0)
    settings.fetch_delay = setup.fetch_delay if copies != 0 else 0.0
    settings.requests_ahead = int(settings.central != 0 and settings.fetch_delay > 0.0)
    settings.low_room = setup.lane
    settings.record, settings.sizes_hidden = int(setup.record), int(not setup.sizes_known)
    settings.python_policy = int(policy is None)
    settings.refusing_at = NONE if policy is None else policy.refusing_at
    return array


def _progress(workers: int, tasks: int, free_node: int) -> NDArray[np.void]:
    array = WorkersProgress.array()
    progress = WorkersProgress.of(array)
    progress.workers_up, progress.idle, progress.free_node = workers, workers, free_node
    progress.expected = tasks
    return array


def _idle_lines(speeds: NDArray[np.float64]) -> NDArray[np.void]:
    line = np.zeros(len(speeds), LINE)
    for field in ("running", "head", "low_head"):
        line[field] = NONE
    line["speed"], line["first_seconds"] = speeds, np.inf
    return line


def links(nodes: int, lows: int) -> NDArray[np.int32]:
    """Return the next node of each: nodes of benchmark tasks are linked as free, the others are in no queue."""
    after = np.full(nodes + lows, NONE, np.int32)
    after[nodes : nodes + lows - 1] = np.arange(nodes + 1, nodes + lows)
    return after


def _senders(setup: Setup, tasks: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the scheduler of each task; an empty array if there is only one scheduler."""
    if setup.schedulers == 1:
        return np.zeros(0, np.int64)
    return np.repeat(rng.integers(setup.schedulers, size=tasks // setup.tasks_per_job), setup.tasks_per_job)


def _jobs(
    setup: Setup, policy: CompiledDispatch | None, tasks: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the job of each task, each job's first task, and the number after that of its last task.

    All are empty without late binding.
    """
    if policy is None or policy.reservations == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    first = np.arange(0, tasks, setup.tasks_per_job)
    return np.repeat(np.arange(len(first)), setup.tasks_per_job), first, first + setup.tasks_per_job


def _sample_rows(times: NDArray[np.float64]) -> WorkerTimetable:
    """Return samples as rows of the timetable; added to it, they follow the changes of the same instant."""
    zeros = np.zeros(len(times))
    return WorkerTimetable(times, np.full(len(times), TAKE_SAMPLE), zeros.astype(np.int64), zeros)


def _sample_times(samples: int, last: float) -> NDArray[np.float64]:
    return np.linspace(0.0, last, samples + 1)[1:]
