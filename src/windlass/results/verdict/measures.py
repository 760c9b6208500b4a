"""Metrics of jobs that can be recomputed from a subset of the jobs, as the comparison by blocks of a log requires."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.results.metrics.site import bounded_slowdown
from windlass.results.verdict.without_blocks import means_without, percentiles_without

#: Mean waits of narrow and wide jobs, compared in addition to a world's metrics. A wide job has more than a quarter of
#: the processors.
NARROW: Final = "narrow_jobs_mean_wait_s"
WIDE: Final = "wide_jobs_mean_wait_s"
_WIDE_SHARE = 0.25
_KNOWN = re.compile(r"(mean|median|p\d\d)(?:_job)?_(wait|response|bounded_slowdown)(?:_s)?")
_TIMES = ("submit_s", "start_s", "end_s")

_Statistic = Callable[[NDArray[np.float64]], float]


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric that is a statistic of one value per job.

    Parameters
    ----------
    statistic
        The function of the values, such as their mean.
    of
        The value of a job: ``wait``, ``response`` or ``bounded_slowdown``.
    jobs
        The jobs that are included: ``all``, ``wide`` or ``narrow``.
    share
        For a percentile, the share of the jobs below it, such as 0.95; None for a mean.
    """

    statistic: _Statistic
    of: str
    jobs: str = "all"
    share: float | None = None


def measure_of(metric: str) -> Measure | None:
    """Return the statistic that computes a metric from jobs; None if a subset of the jobs does not determine it.

    A maximum has no such statistic: a subset without the job that waited longest does not contain the maximum.

    Parameters
    ----------
    metric
        A field of the metrics of a world, or :data:`NARROW` or :data:`WIDE`.

    Examples
    --------
    >>> measure_of("p99_wait_s").of, measure_of("max_wait_s"), measure_of("utilisation")
    ('wait', None, None)
    """
    if metric in (NARROW, WIDE):
        return Measure(_mean, "wait", "wide" if metric == WIDE else "narrow")
    found = _KNOWN.fullmatch(metric)
    if found is None:
        return None
    if found[1] == "mean":
        return Measure(_mean, found[2])
    percent = 50 if found[1] == "median" else int(found[1].removeprefix("p"))
    return Measure(_percentile(percent), found[2], share=percent / 100)


def _percentile(percent: int) -> _Statistic:
    def percentile(values: NDArray[np.float64]) -> float:
        return float(np.percentile(values, percent)) if len(values) else np.nan

    return percentile


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else np.nan


@dataclass(frozen=True, slots=True)
class Jobs:
    """Submission time and value of each job, in order of submission.

    Parameters
    ----------
    submit
        (n,) submission times, s.
    value
        (n,) wait or response, s, or bounded slowdown; NaN for jobs that the measure does not include.
    """

    submit: NDArray[np.float64]
    value: NDArray[np.float64]


def jobs_of(table: pl.DataFrame, measure: Measure, processors: int) -> Jobs | None:
    """Return the value of each job of a table, in order of submission.

    Parameters
    ----------
    table
        Jobs table of any world; if it has a column ``kind``, only rows of kind ``job`` count.
    measure
        Value to compute for each job.
    processors
        Size of the cluster, which defines wide jobs.

    Returns
    -------
    Jobs or None
        None if the table has no jobs or lacks a column, or if a job lacks a time.

    Examples
    --------
    >>> table = pl.DataFrame({"submit_s": [5.0, 0.0], "start_s": [6.0, 2.0], "end_s": [9.0, 3.0]})
    >>> jobs_of(table, measure_of("mean_wait_s"), 8).value.tolist()
    [2.0, 1.0]
    """
    if "kind" in table.columns:
        table = table.filter(pl.col("kind") == "job")
    by_width = measure.jobs != "all"
    if not {*_TIMES, *(["procs"] if by_width else [])} <= set(table.columns) or table.is_empty():
        return None
    submit, start, end = (table[name].cast(pl.Float64).to_numpy() for name in _TIMES)
    if not np.isfinite(submit + start + end).all():
        return None
    if measure.of == "bounded_slowdown":
        value = bounded_slowdown(submit, start, end)
    else:
        value = (start if measure.of == "wait" else end) - submit
    if by_width:
        wide = table["procs"].cast(pl.Float64).to_numpy() > _WIDE_SHARE * processors
        value = np.where(wide == (measure.jobs == "wide"), value, np.nan)
    if (submit[1:] >= submit[:-1]).all():
        return Jobs(submit, value)
    order = np.argsort(submit, kind="stable")
    return Jobs(submit[order], value[order])


def statistic(measure: Measure, values: NDArray[np.float64]) -> float:
    """Return the statistic over the values that are not NaN; NaN if there are none."""
    missing = np.isnan(values)
    return measure.statistic(values[~missing] if missing.any() else values)


def pseudo_values(measure: Measure, values: NDArray[np.float64], blocks: int) -> NDArray[np.float64]:
    """Return the jackknife's pseudo-values, one per block: their mean estimates the statistic, their spread its error.

    With g blocks, the value of block i is g θ − (g − 1) θ₋ᵢ, where θ₋ᵢ is the statistic without block i. For a mean
    over blocks of equal size, that is the mean of block i.

    Parameters
    ----------
    measure
        The statistic θ.
    values
        (n,) values in order of submission, cut into blocks of equal numbers of jobs.
    blocks
        Number of blocks.

    Returns
    -------
    (blocks,) float64.

    Examples
    --------
    >>> pseudo_values(measure_of("mean_wait_s"), np.array([1.0, 3.0, 5.0, 9.0]), 2).tolist()
    [2.0, 7.0]

    Source: Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of Statistics 17
    (1989), section 2; Tukey's pseudo-values.
    """
    edges = np.linspace(0, len(values), blocks + 1).round().astype(np.int64)
    whole = statistic(measure, values)
    if measure.share is None:
        without = means_without(values, edges)
    else:
        without = percentiles_without(values, edges, round(100 * measure.share))
    return blocks * whole - (blocks - 1) * without
