"""Jobs of a Hadoop log over several sites: with what they read and shuffle, or as tasks fixed to sites.

The log gives bytes, not tasks: a map task is a block of input, of 128 MiB unless told otherwise, as HDFS had then.
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
    """What a log of bytes leaves open.

    Parameters
    ----------
    hours
        How much of the log to run, from its beginning.
    block_bytes, reduce_bytes
        Bytes of a map and of a reduce task.
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
    block_bytes: float = BLOCK_BYTES
    reduce_bytes: float = 2 * BLOCK_BYTES
    bytes_per_s: float = 20e6
    least_task_s: float = 1.0
    skew: float = 1.0
    scale: float = 1.0


def staged_swim(records: pl.DataFrame, model: SwimModel, fleet: Fleet, rng: np.random.Generator) -> FleetJobs:
    """Jobs with tasks and data at sites: a map stage, and where the log has one, a shuffle.

    The log says when a job is submitted (s), and how many bytes its maps read and its shuffle moves; tasks and
    their times follow from the model, and input is dealt to sites at random. Jobs that read nothing are left
    out, with a note.

    Parameters
    ----------
    records
        Of :func:`windlass.io.traces.read_swim`.
    model
        What the log leaves open.
    fleet
        Where input is dealt to.
    rng
        Where chance comes from.

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
    """What a log leaves open where its tasks are fixed to sites.

    Parameters
    ----------
    utilisation
        Offered, from the first to the last arrival: the log's clock is run as fast as gives it (SWIM), or sites get
        the slots that give it (SWF).
    skew
        Zipf's, of a job's tasks over sites; ``uniform`` or ``one-site``. SWIM only.
    longest_s
        Where task times are cut off, s. SWIM only.
    accuracy
        From 1, exact, to 0: how well the times of tasks, and the mean of a job's, are known.
    block_bytes
        Input of a task. SWIM only.
    bag_gap_s
        What a user submits with gaps of at most so long is one job. SWF only.
    """

    utilisation: float = 0.78
    skew: float | str = 2.0
    longest_s: float = LONGEST_TASK_S
    accuracy: float = 1.0
    block_bytes: float = BLOCK_BYTES
    bag_gap_s: float = 120.0


def fixed_swim(log: SwimLog, model: FixedModel, fleet: Fleet, rng: np.random.Generator) -> FleetCase:
    """Jobs of tasks fixed to sites: a task a block of input; where blocks lie and how long tasks take is drawn.

    Arrivals are the log's, stretched or pressed to the wanted utilisation.

    Parameters
    ----------
    log
        At least one record.
    model
        What it leaves open.
    fleet
        Sites and slots.
    rng
        Where chance comes from.
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
            f"the log's clock is run at {span / wanted:.3g} times its speed",
        ),
    )
    return FleetCase(fleet, jobs)
