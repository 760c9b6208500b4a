"""A whole run of jobs over sites on a live engine, in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from windlass.dispatch import DispatchPolicy
from windlass.drive import Decider, drive
from windlass.engines.live.engine import LiveFleet
from windlass.engines.live.program import LiveProgram, StageProgram
from windlass.engines.live.result import LiveRun
from windlass.engines.targets import Executors
from windlass.model.fleet import Fleet, FleetJobs
from windlass.place import POLICIES as PLACE
from windlass.place.view import Placement, PlaceView
from windlass.sim.fleet.durations import Estimates


def data_bytes(jobs: FleetJobs) -> int:
    """Return the bytes that all stages of all jobs read and write, an upper bound on the data at one site.

    >>> from windlass.model.fleet import StageSpec
    >>> stages = [StageSpec(1.0, here=(2, 1), task_bytes=100), StageSpec(1.0, tasks=2, parents=(0,), ratio=0.5)]
    >>> data_bytes(FleetJobs.of([0.0], [stages]))
    1050
    """
    read = jobs.tasks * jobs.task_bytes * (jobs.shuffles == 0)
    written = np.zeros(len(read))
    for row in range(len(read)):
        written[row] = read[row] * jobs.ratio[row]
        for child in jobs.children[jobs.child_at[row] : jobs.child_at[row + 1]]:
            read[child] += written[row]
    return int(read.sum() + written.sum())


def run_live(
    fleet: Fleet,
    jobs: FleetJobs,
    policy: Decider[PlaceView, Placement],
    executors: Executors,
    *,
    steps: Sequence[StageProgram] = (),
    dispatch: Callable[[int], DispatchPolicy] | None = None,
    decide_every: float = 0.0,
    estimates: Estimates = "true",
    progress: Callable[[float], None] | None = None,
) -> LiveRun:
    """Run jobs for real; submit times count from when all input is loaded.

    Parameters
    ----------
    fleet, jobs, policy
        The sites, the workload and the placement policy.
    executors
        Opens the executor that runs the tasks.
    steps
        The work of each stage's tasks; if empty, they hold their slots.
    dispatch
        Makes the policy that chooses among a site's workers, from their number.
    decide_every
        Minimum time between decisions, s.
    estimates
        Source of a task's estimated computing time: ``finished`` tasks, or the jobs' own values (``true``).
    progress
        Called with the share of tasks that ended.

    Raises
    ------
    TaskError
        A task failed by its own error, or was lost too often.
    """
    program = LiveProgram(jobs, steps)
    executor = executors.open(fleet, data_bytes(jobs))
    engine = LiveFleet(
        fleet,
        jobs,
        executor,
        program=program,
        dispatch=dispatch,
        decide_every=decide_every,
        estimates=estimates,
        progress=progress,
    )
    return drive(engine, {PLACE.key: policy})
