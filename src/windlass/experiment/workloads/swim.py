"""Jobs over several sites from a Hadoop log: with stages of input and shuffle, or as tasks fixed to sites.

The log has bytes, not tasks: a map task reads a block of input, by default 128 MiB, HDFS's block size at the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from windlass.experiment.workloads.estimates import guess
from windlass.experiment.workloads.seconds import LONGEST_TASK_S, draw_seconds
from windlass.experiment.workloads.spread import spread
from windlass.io.traces import SwimLog
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec, fixed_table

#: A block of input, bytes: what a map task reads.
BLOCK_BYTES = 128 * 2.0**20
_MOST_TASKS = 20_000


@dataclass(frozen=True, slots=True)
class SwimModel:
    """Parameters that a log of bytes leaves open.

    Parameters
    ----------
    hours
        Length of the log to run, from its beginning.
    block_bytes, reduce_bytes
        Bytes of a map and of a reduce task.
    bytes_per_s
        Speed of a task.
    least_task_s
        Minimum task time, s.
    skew
        Spread (σ of a lognormal) of a job's input over sites.
    scale
        Factor on all bytes.
    """

    hours: float = 1.0
    block_bytes: float = BLOCK_BYTES
    reduce_bytes: float = 2 * BLOCK_BYTES
    bytes_per_s: float = 20e6
    least_task_s: float = 1.0
    skew: float = 1.0
    scale: float = 1.0


def staged_swim(records: pl.DataFrame, model: SwimModel, fleet: Fleet, rng: np.random.Generator) -> FleetJobs:
    """Convert a log to jobs with tasks and data at sites: a map stage, and a shuffle if the log has one.

    The log has the submission time of a job, s, the bytes that its maps read, and those that its shuffle moves. Tasks
    and their times follow from the model, and input is distributed to sites at random. Jobs that read nothing are left
    out, with a note.

    Parameters
    ----------
    records
        Records of :func:`windlass.io.traces.read_swim`.
    model
        Parameters that the log leaves open.
    fleet
        The sites.
    rng
        The random generator.

    Examples
    --------
    >>> log = pl.DataFrame({"submit": [5.0], "map_input": [256e6], "shuffle": [1e6]})
    >>> jobs = staged_swim(log, SwimModel(), Fleet.of([1, 1], [1, 1], [1, 1]), np.random.default_rng(1))
    >>> jobs.tasks.tolist(), round(float(jobs.task_s[0]), 2)
    ([2, 1], 6.4)
    """
    records = records.sort("submit", maintain_order=True)
    submit, map_input, shuffle = (records[name].to_numpy() for name in ("submit", "map_input", "shuffle"))
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


@dataclass(frozen=True, slots=True)
class FixedModel:
    """Parameters that a log leaves open if its tasks are fixed to sites.

    Parameters
    ----------
    utilisation
        Offered utilisation from the first to the last arrival: the log's clock is scaled to it (SWIM), or the sites'
        slots are (SWF).
    skew
        Zipf exponent of a job's tasks over sites; ``uniform`` or ``one-site``. SWIM only.
    longest_s
        Upper bound of task times, s. SWIM only.
    accuracy
        Accuracy of the known task times and of a job's mean, from 1 (exact) to 0.
    block_bytes
        Input of a task, bytes. SWIM only.
    bag_gap_s
        Submissions of a user with gaps of at most this, s, form one job. SWF only.
    """

    utilisation: float = 0.78
    skew: float | str = 2.0
    longest_s: float = LONGEST_TASK_S
    accuracy: float = 1.0
    block_bytes: float = BLOCK_BYTES
    bag_gap_s: float = 120.0


def fixed_swim(log: SwimLog, model: FixedModel, fleet: Fleet, rng: np.random.Generator) -> FleetCase:
    """Convert a log to jobs of tasks fixed to sites: a task per block of input, with random sites and task times.

    Arrivals are the log's, scaled to the target utilisation.

    Parameters
    ----------
    log
        A log with at least one record.
    model
        Parameters that the log leaves open.
    fleet
        Sites and slots.
    rng
        The random generator.
    """
    records = log.records.sort("submit", maintain_order=True)
    sizes = np.maximum(np.ceil(records["map_input"].to_numpy() / model.block_bytes), 1).astype(np.int64)
    for_sites, for_seconds, for_guesses, for_errors = rng.spawn(4)
    seconds = draw_seconds(int(sizes.sum()), for_seconds, longest=model.longest_s)
    submit = records["submit"].to_numpy() - float(records["submit"][0])
    span = float(submit[-1]) or 1.0
    wanted = float(seconds.sum()) / (float(fleet.slots.sum()) * model.utilisation)
    jobs = fixed_table(
        submit * (wanted / span),
        spread(sizes, len(fleet), model.skew, for_sites),
        seconds,
        expected=guess(seconds, model.accuracy, for_guesses),
        error=guess(np.ones(len(sizes)), model.accuracy, for_errors),
        notes=(
            *log.notes,
            f"{len(sizes):,} jobs of {sizes.sum():,} tasks of {model.block_bytes / 2**20:g} MiB; "
            f"the log's clock runs at {span / wanted:.3g} times its speed",
        ),
    )
    return FleetCase(fleet, jobs)
