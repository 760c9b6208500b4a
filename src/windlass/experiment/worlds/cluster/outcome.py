"""The tables, series and notes of a finished run of a cluster."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from windlass.experiment.worlds.batch.jobs import jobs_table
from windlass.experiment.worlds.cluster.core_series import core_series
from windlass.experiment.worlds.cluster.draw import ClusterArrivals
from windlass.experiment.worlds.cluster.results import ClusterRun, LoadResult
from windlass.experiment.worlds.cluster.sampler import Samples
from windlass.experiment.worlds.cluster.site_map import site_map
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.experiment.worlds.dispatch.tasks import tasks_table
from windlass.results import Outcome, Series
from windlass.results.metrics.cluster import cluster_metrics
from windlass.sim.fleet.result import FleetRun
from windlass.sim.instances.result import Scaled
from windlass.sim.queries.result import Streamed
from windlass.sim.workers.result import Dispatched


def outcome_of(setting: ClusterSetting, seed: int, arrivals: ClusterArrivals, done: ClusterRun) -> Outcome:
    """Return the outcome of a finished run.

    Parameters
    ----------
    setting, seed
        The scenario's variant, and the random seed.
    arrivals
        What arrived.
    done
        The results of all parts.
    """
    samples = done.samples[0].result
    return Outcome(
        seed=seed,
        metrics=cluster_metrics(
            rigid=[each.result for each in done.rigid],
            shared=[each.result for each in done.shared],
            staged=[each.result for each in done.staged],
            tasks=[each.result for each in done.tasks],
            observed=[each.result for each in done.observed],
            scaled=[each.result for each in done.scaled],
            queries=[each.result for each in done.queries],
            parts=[(each.result["end_s"] - each.result["submit_s"]).to_numpy() for each in done.part_jobs],
            used_share=_used(samples),
        ),
        jobs=_table(setting, arrivals, done),
        processors=sum(group.count * group.cores for site in setting.sites.values() for group in site.groups),
        calendar=arrivals.calendar,
        notes=(
            *arrivals.notes(),
            *_stand_in_notes(setting),
            *_part_notes(done),
            *_sample_notes(setting, done),
        ),
        series=(*_use(setting, samples), *core_series(setting, done)),
        site_map=site_map(setting, done),
    )


def _used(samples: Samples) -> float:
    """Return the share of the cores that loads held, over all samples."""
    return float(samples.held.sum() / max(int(samples.capacity.sum()), 1))


def _use(setting: ClusterSetting, samples: Samples) -> Iterator[Series]:
    """Return the share of each site's cores that loads held, over time."""
    time, share = np.append(samples.time, samples.end), samples.held / np.maximum(samples.capacity, 1)
    for place, name in enumerate(setting.sites):
        yield Series(f"cores in use at {name}", time, share[:, place], percent=True)


def _table(setting: ClusterSetting, arrivals: ClusterArrivals, done: ClusterRun) -> pl.DataFrame:
    """Return a row per job, query and sampled task; columns that a kind does not have are null."""
    ids = {each.name: each.drawn.jobs.ids for each in arrivals.rigid}
    found = [
        _labelled(jobs_table(each.result, ids=ids.get(f"{each.load}@{each.site}")), "job", each)
        for each in done.rigid
    ]
    found += [_labelled(_staged(each.result), "staged job", each) for each in done.staged]
    found += [
        _labelled(_vectors(each.result), "vector job", each) for each in done.scaled if len(each.result.jobs)
    ]
    found += [_labelled(_queries(each.result), "query", each) for each in done.queries]
    found += [_labelled(_numbered(each.result), "part job", each) for each in done.part_jobs]
    every = tasks_per_row(setting, done)
    found += [_labelled(_tasks(each.result, every), "task", each) for each in done.tasks]
    # Rechunked, so that a file of the table has the same bytes if it comes from another process.
    return pl.concat(found, how="diagonal", rechunk=True)


def _numbered(jobs: pl.DataFrame) -> pl.DataFrame:
    """Return a table of jobs with the number of each."""
    return jobs.select(pl.int_range(1, pl.len() + 1).alias("job"), pl.all().exclude("job"))


def _labelled(table: pl.DataFrame, kind: str, of: LoadResult[object]) -> pl.DataFrame:
    return table.select(
        pl.lit(kind).alias("kind"), pl.lit(of.load).alias("load"), pl.lit(of.site).alias("site"), pl.all()
    )


def _staged(done: FleetRun) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "job": np.arange(1, len(done.jobs) + 1),
            "submit_s": done.jobs.submit,
            "start_s": done.start,
            "end_s": done.end,
            "tasks": done.jobs.job_tasks,
            "sent_bytes": done.sent,
        }
    )


def _vectors(done: Scaled) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "job": done.jobs.job,
            "submit_s": done.jobs.submit,
            "start_s": done.start,
            "end_s": done.end,
            "procs": np.ceil(done.jobs.resources[:, 1]).astype(np.int64),
        }
    )


def _queries(done: Streamed) -> pl.DataFrame:
    length = done.stays.leave - done.stays.arrive
    return pl.DataFrame(
        {
            "job": np.arange(1, len(done.stays) + 1),
            "submit_s": done.stays.arrive,
            "end_s": done.stays.leave,
            "accuracy": done.accurate / np.where(length > 0.0, length, np.nan),
        }
    )


def tasks_per_row(setting: ClusterSetting, done: ClusterRun) -> int:
    """Return the number of tasks for each one in the table."""
    return max(1, -(-sum(len(each.result.submit) for each in done.tasks) // setting.keep_tasks))


def _tasks(done: Dispatched, every: int) -> pl.DataFrame:
    found = tasks_table(done, len(done.submit) // len(done.job_response), every).rename({"worker": "node"})
    spilled = [pl.Series("spilled", done.site[::every] >= 0)] if len(done.site) else []
    return found.with_columns(pl.col("job") + 1, *spilled)


def _stand_in_notes(setting: ClusterSetting) -> Iterator[str]:
    """Return for each decision that the variant leaves out what stands in for it."""
    chosen = {choice.decision: choice.label for choice in setting.chosen().choices()}
    for decision in setting.without:
        yield f"without {decision}: {chosen[decision]} stands in for it"


def _part_notes(done: ClusterRun) -> Iterator[str]:
    """Return the result of each custom part."""
    yield from (f"{each.load}@{each.site}: {each.result}" for each in done.parts)


def _sample_notes(setting: ClusterSetting, done: ClusterRun) -> Iterator[str]:
    every = tasks_per_row(setting, done)
    if every > 1:
        yield f"one in {every:,} of the tasks is in the table; metrics cover all tasks"
