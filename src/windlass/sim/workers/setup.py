"""A dispatch simulation's arguments, the state made from them, and the result read off it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch.compiled import CompiledDispatch
from windlass.dispatch.state import BENCHMARK_AT, COPIES, LISTENS, RATES_AT, make_state
from windlass.model import InputError
from windlass.model.timetable import TAKE_SAMPLE, WorkerTimetable
from windlass.sim.events.tree import make_tree
from windlass.sim.workers import slots
from windlass.sim.workers.result import Dispatched
from windlass.sim.workers.state import LINE, NOBODY, WorkersState

_FIRST_LOG = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """The checked arguments of a simulation; :func:`~windlass.experiment.dispatching.simulate` says what they mean."""

    speeds: NDArray[np.float64]
    timetable: WorkerTimetable
    schedulers: int
    probe_delay: float
    sizes_told: bool
    lane: int
    samples: int
    record: bool
    tasks_per_job: int

    def result(self, state: WorkersState, name: str) -> Dispatched:
        """What came out, once all tasks have run."""
        # In the place of the ends, which nobody needs any more: a task's share of a new array costs some ns.
        response = np.subtract(state.end, state.submit, out=state.end)
        per_job = self.tasks_per_job
        taken = int(state.counts[slots.NEXT_SAMPLE])
        return Dispatched(
            policy=name,
            submit=state.submit,
            response=response,
            job_response=response if per_job == 1 else response.reshape(-1, per_job).max(axis=1),
            longest_queue=int(state.counts[slots.LONGEST]),
            sample_time=_sample_times(self.samples, state.submit[-1])[:taken],
            longest=state.longest[:taken],
            waiting=state.waiting[:taken],
            estimates=state.estimates[:taken],
            benchmarks=int(state.counts[slots.BENCHMARKS]),
            dropped=int(state.counts[slots.DROPPED]),
            moved=int(state.counts[slots.MOVED]),
            start=state.start,
            worker=state.worker,
        )


def make_workers(
    setup: Setup,
    policy: CompiledDispatch | None,
    submit: NDArray[np.float64],
    work: NDArray[np.float64],
    rng: np.random.Generator,
) -> WorkersState:
    """Workers and tasks before anything happens.

    Parameters
    ----------
    setup
        The arguments.
    policy
        Its state is copied, once per scheduler; None for one that is not compiled.
    submit, work
        (t,) when tasks arrive, s, and their work.
    rng
        Draws which scheduler gets each job, and the streams of schedulers after the first.

    Raises
    ------
    InputError
        A change is of a worker that is not there, or the policy cannot be driven as asked.
    """
    workers, tasks = len(setup.speeds), len(submit)
    if len(setup.timetable.worker) and setup.timetable.worker.max() >= workers:
        raise InputError(f"timetable: worker {setup.timetable.worker.max()}, expected 0 to {workers - 1}")
    ints, floats = _policy_state(setup, policy, rng)
    copies = int(ints[0, COPIES])
    learns = policy is not None and ints[0, LISTENS] and ints[0, RATES_AT] >= 0
    nodes = tasks * max(copies, 1)
    lows = (setup.lane + 1) * workers if np.isfinite(floats[:, BENCHMARK_AT]).any() else 0
    counts = _counts(setup, copies, asks_python=policy is None, pools=policy is not None and policy.pools)
    counts[slots.FREE_NODE] = nodes if lows else NOBODY
    clock = np.zeros(slots.CLOCKS)
    clock[slots.DELAY] = setup.probe_delay
    length = np.zeros(workers, np.int64)
    delayed = setup.probe_delay > 0
    log = _FIRST_LOG if delayed else 0
    sender = _senders(setup, tasks, rng)
    job, first, last = _jobs(setup, policy, sender, tasks)
    changes = setup.timetable + _looks(_sample_times(setup.samples, submit[-1]))
    return WorkersState(
        tree=make_tree(workers),
        clock=clock,
        counts=counts,
        line=_idle_lines(setup.speeds),
        base=setup.speeds.copy(),
        share=np.ones(workers),
        low_count=np.zeros(workers, np.int64),
        length=length,
        seen=length.copy() if delayed else length,
        after=_links(nodes, lows),
        submit=submit,
        work=work,
        end=np.full(tasks, np.nan),
        start=np.full(tasks if setup.record else 0, np.nan),
        worker=np.full(tasks if setup.record else 0, NOBODY),
        sender=sender,
        job=job,
        next_task=first,
        last_task=last,
        bound=np.full(nodes if copies else 0, NOBODY),
        following=_following(job) if policy is not None and policy.pools else np.zeros(0, np.int64),
        unbound=np.zeros(setup.schedulers, np.int64),
        low_work=np.zeros(lows),
        low_sender=np.zeros(lows, np.int64),
        change_time=changes.time,
        change_kind=changes.kind,
        change_worker=changes.worker,
        change_value=changes.value,
        log_time=np.zeros(log),
        log_item=np.zeros((log, 3), np.int64),
        log_value=np.zeros((log, 2)),
        ints=ints,
        floats=floats,
        longest=np.zeros(setup.samples, np.int64),
        waiting=np.zeros(setup.samples, np.int64),
        estimates=np.zeros((setup.samples, workers if learns else 0)),
    )


def with_more_log(state: WorkersState) -> WorkersState:
    """The same state with twice the room for what schedulers will see later."""
    order = (state.counts[slots.LOG_FIRST] + np.arange(len(state.log_time))) % len(state.log_time)
    state.counts[slots.LOG_FIRST] = 0
    return state._replace(
        log_time=np.concatenate((state.log_time[order], np.zeros_like(state.log_time))),
        log_item=np.concatenate((state.log_item[order], np.zeros_like(state.log_item))),
        log_value=np.concatenate((state.log_value[order], np.zeros_like(state.log_value))),
    )


def _policy_state(
    setup: Setup, policy: CompiledDispatch | None, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(k, …) each scheduler's state; a header alone for a policy that keeps its own, outside of the loop."""
    if policy is not None:
        return policy.split(setup.schedulers, rng)
    if setup.schedulers > 1:
        raise InputError(f"schedulers is {setup.schedulers}, expected 1 with a policy that is not compiled")
    ints, floats = make_state(len(setup.speeds), None)
    return ints.reshape(1, -1), floats.reshape(1, -1)


def _counts(setup: Setup, copies: int, *, asks_python: bool, pools: bool) -> NDArray[np.int64]:
    counts = np.zeros(slots.COUNTS, np.int64)
    counts[slots.WORKERS_UP] = len(setup.speeds)
    counts[[slots.WAIT_HEAD, slots.WAIT_TAIL, slots.ANSWER]] = NOBODY
    counts[slots.BINDS_LATE], counts[slots.COPIES] = copies > 0, max(copies, 1)
    counts[slots.LANE_ROOM] = setup.lane
    counts[slots.RECORD], counts[slots.SIZES_HIDDEN] = setup.record, not setup.sizes_told
    counts[slots.ASKS_PYTHON] = asks_python
    counts[slots.POOLED] = pools
    return counts


def _idle_lines(speeds: NDArray[np.float64]) -> NDArray[np.void]:
    line = np.zeros(len(speeds), LINE)
    for place in ("running", "head", "low_head"):
        line[place] = NOBODY
    line["speed"], line["first_seconds"] = speeds, np.inf
    return line


def _links(nodes: int, lows: int) -> NDArray[np.int32]:
    """What follows each node: nothing, but that the nodes of benchmark tasks are linked as free."""
    after = np.full(nodes + lows, NOBODY, np.int32)
    after[nodes : nodes + lows - 1] = np.arange(nodes + 1, nodes + lows)
    return after


def _senders(setup: Setup, tasks: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The scheduler of each task; empty where there is but one."""
    if setup.schedulers == 1:
        return np.zeros(0, np.int64)
    return np.repeat(rng.integers(setup.schedulers, size=tasks // setup.tasks_per_job), setup.tasks_per_job)


def _jobs(
    setup: Setup, policy: CompiledDispatch | None, sender: NDArray[np.int64], tasks: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """With late binding: the job of each task, and the first task of each job and the one after its last."""
    if policy is None or policy.reservations == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    if not policy.pools:
        first = np.arange(0, tasks, setup.tasks_per_job)
        return np.repeat(np.arange(len(first)), setup.tasks_per_job), first, first + setup.tasks_per_job
    job = sender if len(sender) else np.zeros(tasks, np.int64)
    first = np.full(setup.schedulers, tasks)
    came, place = np.unique(job, return_index=True)
    first[came] = place
    return job, first, np.full(setup.schedulers, tasks)


def _following(job: NDArray[np.int64]) -> NDArray[np.int64]:
    """(t,) the next task of the same job; past the last of all where there is none."""
    found, order = np.full(len(job), len(job)), np.argsort(job, kind="stable")
    same = job[order[1:]] == job[order[:-1]]
    found[order[:-1][same]] = order[1:][same]
    return found


def _looks(times: NDArray[np.float64]) -> WorkerTimetable:
    """Samples as rows of the timetable, behind the changes of the same instant."""
    nothing = np.zeros(len(times))
    return WorkerTimetable(times, np.full(len(times), TAKE_SAMPLE), nothing.astype(np.int64), nothing)


def _sample_times(samples: int, last: float) -> NDArray[np.float64]:
    return np.linspace(0.0, last, samples + 1)[1:]
