"""Jobs of a Hadoop log over several sites: a map stage, and where the log has one, a shuffle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.fleet import Fleet, FleetJobs, StageSpec

_MOST_TASKS = 20_000


@dataclass(frozen=True, slots=True)
class SwimModel:
    """What a log of bytes leaves open.

    Parameters
    ----------
    hours
        How much of the log to run, from its beginning.
    block_bytes, reduce_bytes
        Bytes of a map and of a reduce task; HDFS had blocks of 128 MB then.
    bytes_per_s
        How fast a task computes.
    least_task_s
        No task takes less, s.
    skew
        Spread (σ of a lognormal) of a job's input over sites.
    scale
        All bytes are multiplied by it.
    """

    hours: float = 1.0
    block_bytes: float = 128e6
    reduce_bytes: float = 256e6
    bytes_per_s: float = 20e6
    least_task_s: float = 1.0
    skew: float = 1.0
    scale: float = 1.0


def jobs_of_log(
    submit: NDArray[np.float64],
    map_input: NDArray[np.float64],
    shuffle: NDArray[np.float64],
    model: SwimModel,
    fleet: Fleet,
    rng: np.random.Generator,
) -> FleetJobs:
    """Jobs with tasks and data at sites.

    The log says when a job is submitted (s), and how many bytes its maps read and its shuffle moves; tasks and
    their times follow from the model, and input is dealt to sites at random. Jobs that read nothing are left
    out, with a note.

    Examples
    --------
    >>> log = (np.array([value]) for value in (5.0, 256e6, 1e6))
    >>> jobs = jobs_of_log(*log, SwimModel(), Fleet.of([1, 1], [1, 1], [1, 1]), np.random.default_rng(1))
    >>> jobs.tasks.tolist(), round(float(jobs.task_s[0]), 2)
    ([2, 1], 6.4)
    """
    inside = submit < submit[0] + 3600.0 * model.hours
    some = inside & (map_input > 0)
    jobs: list[list[StageSpec]] = []
    for row in np.flatnonzero(some):
        read, moved = map_input[row] * model.scale, shuffle[row] * model.scale
        tasks = int(np.clip(np.ceil(read / model.block_bytes), 1, _MOST_TASKS))
        part = np.exp(model.skew * rng.standard_normal(len(fleet)))
        here = rng.multinomial(tasks, part / part.sum())
        own = read / tasks
        seconds = max(model.least_task_s, own / model.bytes_per_s)
        stages = [StageSpec(seconds, tuple(here.tolist()), own, ratio=moved / read)]
        if moved > 0:
            reducers = int(np.clip(np.ceil(moved / model.reduce_bytes), 1, _MOST_TASKS))
            seconds = max(model.least_task_s, moved / reducers / model.bytes_per_s)
            stages.append(StageSpec(seconds, tasks=reducers, parents=(0,)))
        jobs.append(stages)
    left_out = int((inside & ~some).sum())
    one, many = "job of the log reads nothing and is", "jobs of the log read nothing and are"
    notes = (f"{left_out:,} {one if left_out == 1 else many} left out",) if left_out else ()
    return FleetJobs.of(submit[some].tolist(), jobs, notes=notes)
