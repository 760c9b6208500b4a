"""Real logs as jobs over many sites: the grid log by its sites, the Facebook log by its bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.orders import GeoWorkload, sparse_workload, workload_of
from windlass.traces import read_swf, read_swim, to_workload
from windlass.workloads.sizes import draw_seconds, guess, spread


@dataclass(frozen=True, slots=True)
class Reading:
    """How a log is read: which records, and what the log leaves open."""

    where: str | None
    skip_bad_lines: bool
    utilisation: float
    skew: float | str
    longest_s: float
    accuracy: float
    block_bytes: float
    bag_gap_s: float


def read_geo_log(
    path: Path, reading: Reading, slots: NDArray[np.int64], rng: np.random.Generator
) -> GeoWorkload:
    """A log as a workload; ``.tsv`` is SWIM, ``.swf`` and ``.swf.gz`` are SWF.

    Raises
    ------
    InputError
        The suffix is none of them, or the log cannot be used.
    """
    name = path.name.lower()
    if name.endswith((".swf", ".swf.gz")):
        return _grid(path, reading, rng)
    if name.endswith((".tsv", ".tsv.gz")):
        return _mapreduce(path, reading, slots, rng)
    raise InputError(f"{path}: unknown suffix, expected .tsv (SWIM), .swf or .swf.gz")


def _grid(path: Path, reading: Reading, rng: np.random.Generator) -> GeoWorkload:
    """One task a processor at the site that its partition (or else queue) names; a user's burst is one job.

    Grid jobs of one processor come in bags: what one user submits with gaps of at most ``bag_gap_s`` belongs
    together (Iosup et al., "The characteristics and performance of groups of jobs in grids", Euro-Par 2007), and
    arrives with its last. A log does not say how many slots a site had: each gets as many as give it the wanted
    utilisation.
    """
    log = read_swf(path, reading.skip_bad_lines)
    usable = to_workload(log, log.processors, reading.where)
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
    fresh = (
        (pl.col("submit").diff().over("user").fill_null(np.inf) > reading.bag_gap_s).cum_sum().over("user")
    )
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
    slots = np.maximum(np.ceil(work / (span * reading.utilisation)), 1).astype(np.int64)
    left_out = (f"{lacking:,} jobs name no site and are left out",) if lacking else ()
    return sparse_workload(
        arrival,
        subjobs["number"].to_numpy(),
        subjobs["site"].to_numpy(),
        subjobs["procs"].to_numpy(),
        per_task,
        slots,
        expected=guess(per_task, reading.accuracy, rng),
        error=guess(np.ones(len(arrival)), reading.accuracy, rng),
        notes=(
            *usable.notes,
            *left_out,
            f"{len(bags):,} log entries make {len(arrival):,} jobs over {len(names)} sites of "
            f"{slots.min():,} to {slots.max():,} slots",
        ),
    )


def _mapreduce(
    path: Path, reading: Reading, slots: NDArray[np.int64], rng: np.random.Generator
) -> GeoWorkload:
    """A map task a block of input; where blocks lie and how long tasks take is drawn, as the log does not say.

    Arrivals are the log's, stretched or pressed to the wanted utilisation.
    """
    log = read_swim(path, reading.skip_bad_lines)
    records = log.records
    if reading.where is not None:
        try:
            records = records.filter(pl.sql_expr(reading.where))
        except pl.exceptions.PolarsError as error:
            raise InputError(f"where: {reading.where!r} cannot be evaluated: {error}") from error
    records = records.sort("submit", maintain_order=True)
    if not len(records):
        raise InputError(f"where: {reading.where!r} leaves no job of {path}")
    sizes = np.maximum(np.ceil(records["map_input"].to_numpy() / reading.block_bytes), 1).astype(np.int64)
    for_sites, for_seconds, for_guesses, for_errors = rng.spawn(4)
    seconds = draw_seconds(int(sizes.sum()), for_seconds, longest=reading.longest_s)
    submit = records["submit"].to_numpy() - float(records["submit"][0])
    span = float(submit[-1]) or 1.0
    wanted = float(seconds.sum()) / (float(slots.sum()) * reading.utilisation)
    return workload_of(
        submit * (wanted / span),
        spread(sizes, len(slots), reading.skew, for_sites),
        seconds,
        slots,
        expected=guess(seconds, reading.accuracy, for_guesses),
        error=guess(np.ones(len(sizes)), reading.accuracy, for_errors),
        notes=(
            *log.notes,
            f"{len(sizes):,} jobs of {sizes.sum():,} tasks of {reading.block_bytes / 2**20:g} MiB; "
            f"the log's clock is run at {span / wanted:.3g} times its speed",
        ),
    )
