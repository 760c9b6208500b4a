"""Metrics of jobs worked out again from a part of the jobs, so that a log can be cut in blocks."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.results.metrics.site import bounded_slowdown

#: Mean waits of jobs by width, added to the metrics of a world: wide jobs take more than a quarter of the processors.
NARROW: Final = "narrow_jobs_mean_wait_s"
WIDE: Final = "wide_jobs_mean_wait_s"
_WIDE_SHARE = 0.25
_KNOWN = re.compile(r"(mean|median|p\d\d)(?:_job)?_(wait|response|bounded_slowdown)(?:_s)?")
_TIMES = ("submit_s", "start_s", "end_s")

_Statistic = Callable[[NDArray[np.float64]], float]


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric that is a statistic of one value a job: ``of`` is wait, response or bounded_slowdown."""

    statistic: _Statistic
    of: str
    jobs: str = "all"


def measure_of(metric: str) -> Measure | None:
    """Return how a metric follows from the jobs; None if it cannot be computed from a part of the jobs.

    A maximum has none: of the longest wait, no part of the jobs without it knows.

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
    return None if found is None else Measure(_statistic(found[1]), found[2])


def _statistic(name: str) -> _Statistic:
    if name == "mean":
        return _mean
    share = 50.0 if name == "median" else float(name[1:])

    def percentile(values: NDArray[np.float64]) -> float:
        return float(np.percentile(values, share)) if len(values) else np.nan

    return percentile


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else np.nan


@dataclass(frozen=True, slots=True)
class Jobs:
    """What each job submitted and got, in the order of submission; ``value`` is NaN for jobs not meant.

    Parameters
    ----------
    submit
        (n,) s.
    value
        (n,) wait or response, s, or bounded slowdown.
    """

    submit: NDArray[np.float64]
    value: NDArray[np.float64]


def jobs_of(table: pl.DataFrame, measure: Measure, processors: int) -> Jobs | None:
    """The jobs of a table, by submission.

    Parameters
    ----------
    table
        Of any world; where it has a column ``kind``, its rows of kind ``job``.
    measure
        Value to compute for each job.
    processors
        Size of the cluster, which defines wide jobs.

    Returns
    -------
    Jobs or None
        None where the table lacks a column, or a job a time.

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
    order = np.argsort(submit, kind="stable")
    return Jobs(submit[order], value[order])


def statistic(measure: Measure, values: NDArray[np.float64]) -> float:
    """Of the jobs that are meant; NaN where there are none."""
    return measure.statistic(values[~np.isnan(values)])


def pseudo_values(measure: Measure, values: NDArray[np.float64], blocks: int) -> NDArray[np.float64]:
    """Return jackknife values, one a block: their mean estimates the statistic, their spread its error.

    With g blocks it is g θ − (g − 1) θ₋ᵢ, where θ₋ᵢ leaves block i out. For a mean over blocks of one size that is
    the mean of block i.

    Parameters
    ----------
    measure
        The statistic θ.
    values
        (n,) in order of submission, cut into blocks of as many jobs each.
    blocks
        How many.

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
    without = [
        statistic(measure, np.concatenate((values[:low], values[high:])))
        for low, high in itertools.pairwise(edges)
    ]
    return blocks * whole - (blocks - 1) * np.array(without)
