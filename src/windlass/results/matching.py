"""The jobs that two outcomes have in common, matched by identifier."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from windlass.results.outcome import Outcome
from windlass.results.verdict.measures import jobs_of, measure_of, statistic

#: Columns that identify a job within a run, as far as both tables have them.
_KEYS: Final = ("kind", "load", "job")
#: Column of the site, where jobs of several sites have the same number.
_SITE: Final = "site"
#: Columns that the same job has under any policy and on any cluster.
_FIXED: Final = ("job_id", "procs", "gpus", "cores", "user")
#: Share of the common jobs that must agree in these columns.
_ALIKE: Final = 0.99


@dataclass(frozen=True, slots=True)
class MatchedOutcomes:
    """Two outcomes, reduced to the jobs that they have in common.

    Parameters
    ----------
    first, second
        The outcomes. If jobs are left out, metrics that follow from the jobs are computed again. The second has the
        submission times of the first, and its own waits and run times, so that both have the same blocks of jobs.
    common
        Number of common jobs.
    only_first, only_second
        Number of jobs that only one outcome has.
    same_submission
        Whether the common jobs were submitted at the same times.
    """

    first: Outcome
    second: Outcome
    common: int
    only_first: int
    only_second: int
    same_submission: bool


def match_outcomes(first: Outcome, second: Outcome) -> MatchedOutcomes | None:
    """Return two outcomes reduced to their common jobs.

    Parameters
    ----------
    first, second
        Outcomes of the same world.

    Returns
    -------
    MatchedOutcomes or None
        None if there is no common job, or if more than 1 % of those with the same identifier differ in size or user,
        as those of different logs do.

    Examples
    --------
    >>> from windlass.results.metrics.site import BatchMetrics
    >>> metrics = BatchMetrics(1.0, 0.0, 0.0, 0.0, 60.0, 1.0, 0.5, 60.0)
    >>> table = pl.DataFrame({"job": [1, 2], "submit_s": [0.0, 9.0], "start_s": [0.0, 9.0], "end_s": [60.0, 69.0]})
    >>> found = match_outcomes(Outcome(1, metrics, table, 8), Outcome(1, metrics, table.head(1), 8))
    >>> found.common, found.only_first, found.only_second
    (1, 1, 0)
    """
    both = set(first.jobs.columns) & set(second.jobs.columns)
    keys: list[str] = [each for each in _KEYS if each in both]
    if "job" in keys:
        keys[keys.index("job")] = job_column(first.jobs, second.jobs)
    if not keys or first.jobs.is_empty() or second.jobs.is_empty():
        return None
    tables = [_with_key(outcome.jobs, keys) for outcome in (first, second)]
    if any(table["key"].is_duplicated().any() for table in tables) and _SITE in both:
        # Each site numbers the jobs of its own load from 1.
        tables = [_with_key(outcome.jobs, [*keys, _SITE]) for outcome in (first, second)]
    if any(table["key"].is_duplicated().any() for table in tables):
        return None
    common = tables[0].select("key").join(tables[1].select("key"), on="key", maintain_order="left")
    if common.is_empty():
        return None
    one, other = (common.join(table, on="key", maintain_order="left") for table in tables)
    fixed = [each for each in _FIXED if each in one.columns and each in other.columns]
    if any(_share_alike(one[each], other[each]) < _ALIKE for each in fixed):
        return None
    same = np.array_equal(_times(one, "submit_s"), _times(other, "submit_s"), equal_nan=True)
    rebased = other if same else _submitted_as(one, other)
    whole = len(common) == len(tables[0]) == len(tables[1])
    made = [
        replace(
            outcome,
            jobs=table.drop("key"),
            metrics=outcome.metrics if whole else _computed_again(outcome, table),
        )
        for outcome, table in zip((first, second), (one, rebased), strict=True)
    ]
    return MatchedOutcomes(
        made[0],
        made[1],
        len(common),
        len(tables[0]) - len(common),
        len(tables[1]) - len(common),
        bool(same),
    )


def job_column(first: pl.DataFrame, second: pl.DataFrame) -> str:
    """Return the column by which jobs of two tables are matched: their identifiers, or else their numbers.

    Numbers of jobs with other identifiers depend on which jobs of a log are used.

    >>> one, other = (pl.DataFrame({"job": [1, 2], "job_id": ids}) for ids in (["a", "b"], ["b", "c"]))
    >>> job_column(one, other), job_column(one, other.with_columns(job_id=pl.lit("b")))
    ('job_id', 'job')
    """
    tables = (first, second)
    named = all(
        "job_id" in each.columns and not each["job_id"].is_null().any() and each["job_id"].is_unique().all()
        for each in tables
    )
    return "job_id" if named else "job"


def _with_key(table: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    own = pl.concat_str([pl.col(each).cast(pl.String).fill_null("") for each in keys], separator="/")
    return table.with_columns(own.alias("key"))


def _share_alike(first: pl.Series, second: pl.Series) -> float:
    alike = pl.select(first.cast(pl.String).eq_missing(second.cast(pl.String))).to_series()
    return float(alike.cast(pl.Float64).to_numpy().mean())


def _times(table: pl.DataFrame, name: str) -> Any:
    return table[name].cast(pl.Float64).to_numpy() if name in table.columns else np.zeros(len(table))


def _submitted_as(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """Return the second table with the submission times of the first, and with its own waits and run times."""
    later = pl.Series("later", _times(first, "submit_s") - _times(second, "submit_s"))
    moved = [each for each in ("submit_s", "start_s", "end_s") if each in second.columns]
    return second.with_columns([(pl.col(each) + later).alias(each) for each in moved])


def _computed_again(outcome: Outcome, table: pl.DataFrame) -> Any:
    """Return the metrics over the jobs that are left; NaN for those that do not follow from jobs."""
    found: dict[str, float] = {}
    for name in outcome.metrics.__dataclass_fields__:
        measure = measure_of(name)
        jobs = None if measure is None else jobs_of(table, measure, outcome.processors)
        found[name] = np.nan if jobs is None or measure is None else statistic(measure, jobs.value)
    return replace(outcome.metrics, **found)
