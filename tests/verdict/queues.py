"""Waits of 400 repetitions under two policies, by workload: to count how often intervals cover the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.workloads.lublin import lublin
from windlass.model import JobTable
from windlass.order.site.policies.conservative import Conservative
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs
from windlass.order.site.policies.sjf import Sjf
from windlass.results.verdict.blocks import BlockedLog
from windlass.results.verdict.evidence import PairedEvidence
from windlass.results.verdict.measures import measure_of, statistic
from windlass.sim.site.replay import replay

REPETITIONS = 400
POLICIES = {"fcfs": Fcfs, "sjf": Sjf, "easy": Easy, "conservative": Conservative}

Waits = NDArray[np.float64]


@dataclass(frozen=True)
class Covered:
    """Shares of the repetitions with an interval, with one that excludes the truth, and with a significant lead."""

    given: float
    excluded: float
    leads: float


def single_server(
    jobs: int, load: float, ratio: float, common: bool, seed: int
) -> tuple[Waits, Waits, dict[str, float]]:
    """Waits (repetitions, jobs) at two M/M/1 queues with the same arrivals, and the true differences.

    The second queue is faster by `ratio`; its service times are those of the first (`common`) or drawn independently.
    """
    rng, warm = np.random.default_rng(seed), 4000
    gaps = rng.exponential(1.0, (REPETITIONS, jobs + warm))
    service = rng.exponential(load, gaps.shape)
    other = service * ratio if common else rng.exponential(load * ratio, gaps.shape)
    means, percentiles = zip(
        *((use / (1 / use - 1), math.log(use / 0.05) / (1 / use - 1)) for use in (load, load * ratio)),
        strict=True,
    )
    true = {"mean_wait_s": means[0] - means[1], "p95_wait_s": percentiles[0] - percentiles[1]}
    return _waits(gaps, service)[:, warm:], _waits(gaps, other)[:, warm:], true


def _waits(gaps: Waits, service: Waits) -> Waits:
    """Lindley's recursion: wait + service − gap, at least 0."""
    found = np.zeros_like(gaps)
    for job in range(1, gaps.shape[1]):
        found[:, job] = np.maximum(found[:, job - 1] + service[:, job - 1] - gaps[:, job], 0.0)
    return found


def drawn(seed: int) -> JobTable:
    """2,000 jobs of the Lublin–Feitelson model at a load of 0.5 on 128 processors."""
    return lublin(2000, 128, np.random.default_rng([seed, 5]), load=0.5)


def heavy(seed: int) -> JobTable:
    """The same jobs with run times of infinite variance, at most 30 days, none of which is cut at its request."""
    jobs = drawn(seed)
    run = np.minimum(120.0 * (1.0 + np.random.default_rng([seed, 6]).pareto(1.2, len(jobs))), 30 * 86400.0)
    use = float((run * jobs.procs).sum()) / float((jobs.run * jobs.procs).sum())
    return JobTable.of(submit=jobs.submit * use, run=run, procs=jobs.procs, request=2.0 * run)


def resampled(log: JobTable) -> Callable[[int], JobTable]:
    """2,000 jobs in ten stretches of 200 consecutive jobs of a log, drawn with replacement."""
    gaps = np.diff(log.submit, append=log.submit[-1] + 60.0)

    def draw(seed: int) -> JobTable:
        begins = np.random.default_rng([seed, 5]).integers(0, len(log) - 200, 10)
        rows = np.concatenate([np.arange(begin, begin + 200) for begin in begins])
        submit = np.concatenate(([0.0], np.cumsum(gaps[rows])[:-1]))
        return JobTable.of(submit=submit, run=log.run[rows], procs=log.procs[rows], request=log.request[rows])

    return draw


def simulated(draw: Callable[[int], JobTable], processors: int, *policies: str) -> Iterator[Waits]:
    """Yield the waits (repetitions, jobs) under each policy."""
    tables = [draw(seed) for seed in range(REPETITIONS)]
    for name in policies:
        yield np.array([replay(jobs, processors, POLICIES[name]()).start - jobs.submit for jobs in tables])


def covered(first: Waits, second: Waits, metric: str, true: float | None = None) -> Covered:
    """Count intervals that exclude the true difference, by default the mean of the differences of all repetitions.

    If all waits are equal, the verdict says that the variants are equal on this log: that is no interval.
    """
    measure = measure_of(metric)
    assert measure is not None
    differences = [
        statistic(measure, one) - statistic(measure, other) for one, other in zip(first, second, strict=True)
    ]
    truth = float(np.mean(differences)) if true is None else true
    found = [
        BlockedLog(measure, (one[None], other[None])).evidence(0, 1, difference)
        for one, other, difference in zip(first, second, differences, strict=True)
    ]
    found = [
        replace(each, interval=None) if np.array_equal(one, other) else each
        for each, one, other in zip(found, first, second, strict=True)
    ]
    given = np.mean([each.interval is not None for each in found])
    return Covered(
        float(given),
        float(np.mean([_excludes(each, truth) for each in found])),
        float(np.mean([each.direction != 0 for each in found])),
    )


def _excludes(found: PairedEvidence, truth: float) -> bool:
    return found.interval is not None and not found.interval.low <= truth <= found.interval.high
