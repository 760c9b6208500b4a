"""What a stage of a staged job reads, and at which sites it lies, from the sites where its parents' tasks ran."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.sim.fleet.result import FleetRun

_Floats = NDArray[np.float64]


def parents_of(done: FleetRun, stage: int) -> list[int]:
    """Return the stages whose output a shuffle reads; none for a stage that reads input."""
    jobs = done.jobs
    return [
        parent
        for parent in range(int(jobs.stage0[jobs.job[stage]]), stage)
        if stage in jobs.children[jobs.child_at[parent] : jobs.child_at[parent + 1]].tolist()
    ]


def data_at(done: FleetRun, stage: int) -> _Floats:
    """Return the bytes at each site that a stage reads.

    Parameters
    ----------
    done
        The run.
    stage
        The number of the stage.

    Examples
    --------
    >>> from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
    >>> from windlass.place.policies.in_place import InPlace
    >>> from windlass.sim.fleet import run_placed
    >>> fleet = Fleet.of(slots=[4, 4], up=[1e9, 1e9], down=[1e9, 1e9])
    >>> stages = [StageSpec(2.0, here=(3, 1), task_bytes=1e6, ratio=0.5), StageSpec(1.0, tasks=2, parents=(0,))]
    >>> done = run_placed(FleetCase(fleet, FleetJobs.of([0.0], [stages])), InPlace())
    >>> data_at(done, 0).tolist(), data_at(done, 1).tolist()
    ([3000000.0, 1000000.0], [1500000.0, 500000.0])
    """
    jobs, count = done.jobs, len(done.fleet.names)
    if not jobs.shuffles[stage]:
        found: _Floats = jobs.here(count)[stage] * float(jobs.task_bytes[stage])
        return found
    total = np.zeros(count)
    for parent in parents_of(done, stage):
        tasks = slice(int(jobs.first[parent]), int(jobs.first[parent + 1]))
        read = np.full(int(jobs.tasks[parent]), float(jobs.task_bytes[parent]))
        if jobs.shuffles[parent]:
            read = data_at(done, parent).sum() / len(read) * jobs.size[tasks]
        np.add.at(total, done.site[tasks], read * float(jobs.ratio[parent]))
    return total


def fetched_in_place(data: _Floats) -> float:
    """Return the bytes that a shuffle fetches if its tasks run in proportion to the data at each site.

    >>> fetched_in_place(np.array([3.0, 1.0])), fetched_in_place(np.zeros(2))
    (1.5, 0.0)
    """
    total = float(data.sum())
    return float((data * (1.0 - data / total)).sum()) if total > 0.0 else 0.0
