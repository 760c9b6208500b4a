"""A log of a grid as jobs over many sites."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.experiment.workloads.estimates import guess
from windlass.experiment.workloads.swim import FixedModel
from windlass.io.traces import SwfLog, to_workload
from windlass.model import InputError
from windlass.model.fleet import Fleet, FleetCase, fixed_jobs


def fixed_grid(
    log: SwfLog, path: Path, model: FixedModel, where: str | None, rng: np.random.Generator
) -> FleetCase:
    """Convert a grid's log to jobs of tasks fixed to sites; each site gets the slots that give the utilisation.

    A job becomes one task per processor, at the site named by its partition or else its queue. Grid jobs of one
    processor come in bags: a user's submissions with gaps of at most ``bag_gap_s`` form one job (Iosup et al., "The
    characteristics and performance of groups of jobs in grids", Euro-Par 2007), which arrives with the last of them.
    The slots are computed, as logs do not contain them.

    Parameters
    ----------
    log, path
        The log and its file.
    model
        Parameters that the log leaves open.
    where
        An SQL condition over the columns that selects jobs.
    rng
        The random generator.

    Raises
    ------
    InputError
        No job names a site, or a job number appears twice.
    """
    usable = to_workload(log, log.processors, where)
    known = log.records.select("job", "user", site=pl.coalesce("partition", "queue"))
    if known["job"].n_unique() != len(known):
        raise InputError(f"{path}: a job number appears twice, so that its site is not clear")
    jobs = pl.DataFrame(
        {
            "job": usable.jobs.job,
            "submit": usable.jobs.submit,
            "run": usable.jobs.run,
            "procs": usable.jobs.procs,
        }
    ).join(known, on="job", how="left", maintain_order="left")
    lacking = jobs["site"].null_count()
    if lacking == len(jobs):
        raise InputError(f"{path}: no job has a partition or queue, which would name its site")
    jobs = jobs.filter(pl.col("site").is_not_null()).with_columns(pl.col("user").fill_null(-1))
    fresh = (pl.col("submit").diff().over("user").fill_null(np.inf) > model.bag_gap_s).cum_sum().over("user")
    bags = jobs.with_columns(bag=fresh).with_columns(arrival=pl.col("submit").max().over("user", "bag"))
    bags = bags.sort("arrival", "user", "bag", "site", maintain_order=True)
    number = bags.select(pl.struct("user", "bag").rle_id()).to_series().to_numpy().astype(np.int64)
    names, site = np.unique(bags["site"].to_numpy(), return_inverse=True)
    procs = bags["procs"].to_numpy()
    per_task = np.repeat(bags["run"].to_numpy(), procs)
    subjobs = (
        pl.DataFrame({"number": number, "site": site.astype(np.int64), "procs": procs})
        .group_by("number", "site", maintain_order=True)
        .agg(pl.col("procs").sum())
    )
    arrival = bags["arrival"].to_numpy()[np.unique(number, return_index=True)[1]]
    span = max(float(arrival[-1] - arrival[0]), 1.0)
    work = np.bincount(site, weights=bags["run"].to_numpy() * procs, minlength=len(names))
    slots = np.maximum(np.ceil(work / (span * model.utilisation)), 1).astype(np.int64)
    left_out = (f"{lacking:,} jobs name no site and are left out",) if lacking else ()
    found = fixed_jobs(
        arrival,
        subjobs["number"].to_numpy(),
        subjobs["site"].to_numpy(),
        subjobs["procs"].to_numpy(),
        per_task,
        expected=guess(per_task, model.accuracy, rng),
        error=guess(np.ones(len(arrival)), model.accuracy, rng),
        notes=(
            *usable.notes,
            *left_out,
            f"{len(bags):,} log entries make {len(arrival):,} jobs over {len(names)} sites of {_slots(slots)}",
        ),
    )
    return FleetCase(Fleet.of(slots), found, calendar=usable.calendar)


def _slots(slots: NDArray[np.int64]) -> str:
    least, most = int(slots.min()), int(slots.max())
    if least < most:
        return f"{least:,} to {most:,} slots"
    return f"{most:,} slot{'s' if most > 1 else ''} each"
