"""Random jobs of a few stages, with data distributed unevenly over many sites."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.fleet import Fleet, FleetJobs, StageSpec


@dataclass(frozen=True, slots=True)
class JobModel:
    """Parameters of random jobs; all spreads are of logarithms (σ of a lognormal).

    Parameters
    ----------
    jobs
        Number of jobs.
    load
        Offered load of the busiest slots or link if every task ran where its data is; it sets the mean gap of the
        Poisson arrivals.
    stages
        Least and most stages of a job; a job starts with one or two map stages, which a shuffle joins.
    tasks, tasks_spread
        Median number of map tasks of a job, and spread.
    task_s, task_s_spread
        Median of a job's mean compute time per task, s, and spread.
    task_bytes
        Input of a map task, bytes.
    ratio, ratio_spread
        Median over jobs of bytes written per byte read, and spread.
    skew
        Least and most spread of a job's input over sites.
    site_skew
        Spread of the sites' shares of all data.
    noise, straggler_share, straggler_factor
        Spread of compute times within a stage; share of stragglers, and the factor on their times.
    size_spread
        Spread of the input of a stage's shuffle tasks.
    estimate_error
        Largest relative error of the compute times that policies see; each stage's error is uniform up to it, in
        either direction.
    """

    jobs: int = 100
    load: float = 0.7
    stages: tuple[int, int] = (2, 5)
    tasks: float = 150.0
    tasks_spread: float = 1.2
    task_s: float = 8.0
    task_s_spread: float = 0.5
    task_bytes: float = 30e6
    ratio: float = 0.4
    ratio_spread: float = 0.8
    skew: tuple[float, float] = (0.2, 1.6)
    site_skew: float = 0.5
    noise: float = 0.2
    straggler_share: float = 0.03
    straggler_factor: float = 3.0
    size_spread: float = 0.4
    estimate_error: float = 0.0


def draw_jobs(model: JobModel, fleet: Fleet, rng: np.random.Generator) -> FleetJobs:
    """Generate jobs from a model, over given sites.

    >>> from windlass.experiment.workloads.sites import SiteModel, draw_sites
    >>> fleet = draw_sites(SiteModel(sites=5), np.random.default_rng(1))
    >>> jobs = draw_jobs(JobModel(jobs=20), fleet, np.random.default_rng(2))
    >>> len(jobs), bool((jobs.submit >= 0).all())
    (20, True)
    >>> len(draw_jobs(JobModel(jobs=20), Fleet.of(slots=[30, 30]), np.random.default_rng(2)))  # without links
    20
    """
    n = len(fleet)
    popularity = np.exp(model.site_skew * rng.standard_normal(n))
    jobs = [_draw_job(model, popularity, rng) for _ in range(model.jobs)]
    gaps = rng.exponential(1.0, model.jobs)
    gaps[0] = 0.0
    submit = np.cumsum(gaps) * _busiest(fleet, jobs) / (model.load * model.jobs)
    counts = [sum(stage.here) or stage.tasks for job in jobs for stage in job]
    total = sum(counts)
    factor = np.exp(model.noise * rng.standard_normal(total) - model.noise**2 / 2)
    slow = rng.random(total) < model.straggler_share
    factor[slow] *= model.straggler_factor
    size = np.ones(total)
    first = 0
    for count, stage in zip(counts, (stage for job in jobs for stage in job), strict=True):
        if stage.parents:
            sizes = np.exp(model.size_spread * rng.standard_normal(count))
            size[first : first + count] = sizes * (count / sizes.sum())
        first += count
    return FleetJobs.of(submit.tolist(), jobs, factor, size)


def _draw_job(model: JobModel, popularity: NDArray[np.float64], rng: np.random.Generator) -> list[StageSpec]:
    tasks = int(np.clip(np.round(model.tasks * np.exp(model.tasks_spread * rng.standard_normal())), 2, 5000))
    seconds = model.task_s * np.exp(model.task_s_spread * rng.standard_normal())
    ratio = model.ratio * np.exp(model.ratio_spread * rng.standard_normal())
    skew = rng.uniform(*model.skew)
    count = int(rng.integers(model.stages[0], model.stages[1] + 1))
    maps = 2 if count > 2 and rng.random() < 0.5 else 1

    def estimated(mean: float) -> float:
        return float(mean * (1.0 + rng.uniform(-1.0, 1.0) * model.estimate_error))

    found: list[StageSpec] = []
    for place in range(count):
        mean = float(seconds * np.exp(0.3 * rng.standard_normal()))
        if place < maps:
            part = popularity * np.exp(skew * rng.standard_normal(len(popularity)))
            here = rng.multinomial(max(tasks // maps, 1), part / part.sum())
            found.append(
                StageSpec(
                    mean, tuple(here.tolist()), model.task_bytes, ratio=ratio, estimate_s=estimated(mean)
                )
            )
        else:
            parents = tuple(range(maps)) if place == maps else (place - 1,)
            reducers = max(1, int(np.round(tasks * rng.uniform(0.2, 0.7))))
            further = float(np.exp(0.5 * rng.standard_normal()) * 0.6)
            found.append(
                StageSpec(mean, tasks=reducers, ratio=further, parents=parents, estimate_s=estimated(mean))
            )
    return found


def _busiest(fleet: Fleet, jobs: list[list[StageSpec]]) -> float:
    """Return the seconds of work of the busiest slots or link if every task ran where its data is."""
    n = len(fleet)
    work, sent, got = np.zeros(n), np.zeros(n), np.zeros(n)
    for job in jobs:
        lies: list[NDArray[np.float64]] = []
        for stage in job:
            if stage.here:
                here = np.array(stage.here, dtype=np.float64)
                work += here * stage.task_s
                lies.append(here * stage.task_bytes * stage.ratio)
                continue
            data = np.sum([lies[parent] for parent in stage.parents], axis=0)
            total = data.sum()
            part = data / total if total > 0 else np.full(n, 1 / n)
            work += part * stage.tasks * stage.task_s
            sent += data * (1.0 - part)
            got += (total - data) * part
            lies.append(part * total * stage.ratio)
    uses = (
        [(work, fleet.slots), (sent, fleet.up), (got, fleet.down)] if fleet.linked else [(work, fleet.slots)]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        times = [np.where(have > 0, use / have, 0.0) for use, have in uses]
    return float(max(column.max() for column in times))
