"""A dispatch simulation's arguments, the world made from them, and the result read off it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch.state import COPIES as POLICY_COPIES
from windlass.dispatch.state import LISTENS, RATES_AT, make_state
from windlass.model import InputError
from windlass.model.timetable import LOOK, Changes
from windlass.sim.events.tree import make_tree
from windlass.sim.workers import state as at
from windlass.sim.workers.result import Dispatched
from windlass.sim.workers.state import NOBODY, World

_FIRST_LOG = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """The checked arguments of a simulation; :func:`~windlass.sim.workers.simulate.simulate` says what they mean."""

    speeds: NDArray[np.float64]
    changes: Changes
    schedulers: int
    probe_delay: float
    sizes_told: bool
    lane: int
    samples: int
    record: bool
    tasks_per_job: int

    def result(self, world: World, name: str) -> Dispatched:
        """What came out, once all tasks have run."""
        # In the place of the ends, which nobody needs any more: a task's share of a new array costs some ns.
        response = np.subtract(world.end, world.submit, out=world.end)
        per_job = self.tasks_per_job
        taken = int(world.tally[at.SAMPLE])
        return Dispatched(
            policy=name,
            submit=world.submit,
            response=response,
            job_response=response if per_job == 1 else response.reshape(-1, per_job).max(axis=1),
            longest_queue=int(world.tally[at.LONGEST]),
            sample_time=_sample_times(self.samples, world.submit[-1])[:taken],
            longest=world.longest[:taken],
            waiting=world.waiting[:taken],
            estimates=world.estimates[:taken],
            benchmarks=int(world.tally[at.BENCHMARKS]),
            dropped=int(world.tally[at.DROPPED]),
            moved=int(world.tally[at.MOVED]),
            start=world.start,
            worker=world.worker,
        )


def make_world(
    setup: Setup,
    policy: Any,
    submit: NDArray[np.float64],
    work: NDArray[np.float64],
    rng: np.random.Generator,
) -> World:
    """The world before anything happens.

    Parameters
    ----------
    setup
        The arguments.
    policy
        Its state is copied, once per scheduler.
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
    if len(setup.changes.worker) and setup.changes.worker.max() >= workers:
        raise InputError(f"changes: worker {setup.changes.worker.max()}, expected 0 to {workers - 1}")
    compiled = hasattr(policy, "choosing")
    if compiled:
        ints, floats = policy.split(setup.schedulers, rng)
    else:
        if setup.schedulers > 1:
            raise InputError(
                f"schedulers is {setup.schedulers}, expected 1 with a policy that is not compiled"
            )
        ints, floats = (column.reshape(1, -1) for column in make_state(workers, None))
    copies = int(ints[0, POLICY_COPIES])
    learns = compiled and ints[0, LISTENS] and ints[0, RATES_AT] >= 0
    nodes = tasks * max(copies, 1)
    lows = (setup.lane + 1) * workers if np.isfinite(floats[:, 1]).any() else 0
    after = np.full(nodes + lows, NOBODY, np.int32)
    after[nodes : nodes + lows - 1] = np.arange(nodes + 1, nodes + lows)
    count, clock = np.zeros(at.COUNTS, np.int64), np.zeros(at.CLOCKS)
    count[at.UP] = workers
    count[[at.WAIT_HEAD, at.WAIT_TAIL, at.ANSWER]] = NOBODY
    count[at.POOL] = nodes if lows else NOBODY
    count[at.LATE], count[at.COPIES], count[at.LANE] = copies > 0, max(copies, 1), setup.lane
    count[at.RECORD], count[at.HIDDEN], count[at.PYTHON] = setup.record, not setup.sizes_told, not compiled
    clock[at.DELAY] = setup.probe_delay
    line = np.zeros(workers, at.LINE)
    for place in ("running", "head", "low_head"):
        line[place] = NOBODY
    line["speed"], line["first"] = setup.speeds, np.inf
    length = np.zeros(workers, np.int64)
    delayed = setup.probe_delay > 0
    log = _FIRST_LOG if delayed else 0
    jobs = np.arange(0, tasks if copies else 0, setup.tasks_per_job)
    looks = _sample_times(setup.samples, submit[-1])
    events = setup.changes + Changes(
        looks, np.full(len(looks), LOOK), np.zeros(len(looks), np.int64), np.zeros(len(looks))
    )
    senders = (
        rng.integers(setup.schedulers, size=tasks // setup.tasks_per_job)
        if setup.schedulers > 1
        else np.zeros(0)
    )
    return World(
        tree=make_tree(workers),
        clock=clock,
        tally=count,
        line=line,
        low_count=np.zeros(workers, np.int64),
        length=length,
        seen=length.copy() if delayed else length,
        after=after,
        submit=submit,
        work=work,
        end=np.full(tasks, np.nan),
        start=np.full(tasks if setup.record else 0, np.nan),
        worker=np.full(tasks if setup.record else 0, NOBODY),
        sender=np.repeat(senders.astype(np.int64), setup.tasks_per_job),
        job=np.repeat(np.arange(len(jobs)), setup.tasks_per_job),
        next_task=jobs.copy(),
        last_task=jobs + setup.tasks_per_job,
        bound=np.full(nodes if copies else 0, NOBODY),
        low_work=np.zeros(lows),
        low_sender=np.zeros(lows, np.int64),
        change_time=events.time,
        change_kind=events.kind,
        change_worker=events.worker,
        change_value=events.value,
        log_time=np.zeros(log),
        log_item=np.zeros((log, 3), np.int64),
        log_value=np.zeros((log, 2)),
        ints=ints,
        floats=floats,
        longest=np.zeros(setup.samples, np.int64),
        waiting=np.zeros(setup.samples, np.int64),
        estimates=np.zeros((setup.samples, workers if learns else 0)),
    )


def _sample_times(samples: int, last: float) -> NDArray[np.float64]:
    return np.linspace(0.0, last, samples + 1)[1:]
