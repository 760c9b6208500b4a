"""Jobs, waits and work per user, group, queue, partition and size class under each policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import polars as pl
import yaml

from windlass.model.errors import ParameterError
from windlass.results.metrics.site import DAY, bounded_slowdown
from windlass.results.outcome import VariantResult

#: The divisions of jobs. ``size`` is the size class by processors; all others are columns of the table of jobs.
DIVISIONS: Final = ("user", "group", "queue", "partition", "size")
#: Upper bounds of all size classes but the last, in processors, and their names.
_BOUNDS: Final = (1, 8, 64, 512)
SIZE_CLASSES: Final = ("1", "2–8", "9–64", "65–512", "> 512")
_TIMES = ("submit_s", "start_s", "end_s")


def check_division(division: str) -> None:
    """Reject an unknown division of jobs.

    Raises
    ------
    InputError
        The division is none of :data:`DIVISIONS`.

    Examples
    --------
    >>> check_division("user")
    """
    if division not in DIVISIONS:
        raise ParameterError("per", f"unknown division {division!r}, expected one of {', '.join(DIVISIONS)}")


def divisions_of(variants: Sequence[VariantResult]) -> tuple[str, ...]:
    """Return the divisions for which the jobs of all variants have the columns."""
    tables = [outcome.jobs for variant in variants for outcome in variant.outcomes]
    known = set(DIVISIONS) | {"procs", *_TIMES}
    for table in tables:
        known &= set(table.columns)
    if not tables or not set(_TIMES) <= known:
        return ()
    return tuple(each for each in DIVISIONS if ("procs" if each == "size" else each) in known)


def starved_bound(variant: VariantResult, as_run: str) -> float:
    """Return the wait above which a job of a variant counts as starved, s: the scenario's, or one day.

    >>> starved_bound(VariantResult("easy", (), ()), "starved_after: 3600")
    3600.0
    """
    swept = next((at.value for at in variant.at if at.axis == "starved_after"), None)
    tree: Any = yaml.safe_load(as_run) if swept is None and as_run else None
    bound = tree.get("starved_after") if isinstance(tree, dict) else swept
    return float(bound) if isinstance(bound, int | float) and not isinstance(bound, bool) else DAY


def group_metrics(
    variants: Sequence[VariantResult], division: str, as_run: str = "", starved_after: float | None = None
) -> pl.DataFrame:
    """Return a row per variant and group; the groups with the most jobs first, size classes by size.

    Parameters
    ----------
    variants
        Variants, including the recorded schedule of a log.
    division
        One of :data:`DIVISIONS`.
    as_run
        The scenario, which may define when a job counts as starved.
    starved_after
        Wait above which a job counts as starved, s; by default the scenario's, or one day.

    Returns
    -------
    polars.DataFrame
        ``variant``; the group, in a column with the name of the division, null for jobs without one; ``jobs``;
        ``mean_wait_s`` and ``p95_wait_s``; ``mean_bounded_slowdown``; ``work_share``, the share of the variant's
        core-seconds, 0 to 1; ``starved``, the number of starved jobs. With several seeds, ``jobs`` and ``starved`` are
        means over the seeds, and all others are over the jobs of all seeds.

    Raises
    ------
    InputError
        The division is unknown, or the jobs do not have it.
    """
    check_division(division)
    known = divisions_of(variants)
    if division not in known:
        raise ParameterError(
            "per",
            f"the jobs have no {division}, expected one of {', '.join(known) or 'none: the jobs have no times'}",
        )
    found = [
        _of_variant(
            variant, division, starved_bound(variant, as_run) if starved_after is None else starved_after
        )
        for variant in variants
    ]
    return pl.concat(found)


def _of_variant(variant: VariantResult, division: str, bound: float) -> pl.DataFrame:
    jobs = pl.concat([_jobs(outcome.jobs, division) for outcome in variant.outcomes])
    submit, start, end = (jobs[name].to_numpy() for name in _TIMES)
    jobs = jobs.with_columns(
        wait=pl.col("start_s") - pl.col("submit_s"),
        work=(pl.col("end_s") - pl.col("start_s")) * pl.col("procs"),
        slowdown=pl.Series(bounded_slowdown(submit, start, end), dtype=pl.Float64),
    )
    seeds, total = len(variant.outcomes), float(jobs["work"].sum())
    groups = jobs.group_by(division).agg(
        jobs=pl.len() / seeds,
        mean_wait_s=pl.col("wait").mean(),
        p95_wait_s=pl.col("wait").quantile(0.95, "linear"),
        mean_bounded_slowdown=pl.col("slowdown").mean(),
        work_share=pl.col("work").sum() / total if total > 0 else pl.lit(0.0),
        starved=(pl.col("wait") > bound).sum() / seeds,
    )
    if division == "size":
        rank = pl.col(division).replace_strict(dict(zip(SIZE_CLASSES, range(9), strict=False)))
        ordered = groups.sort(rank)
    else:
        ordered = groups.sort(["jobs", division], descending=[True, False], nulls_last=True)
    return ordered.select(pl.lit(variant.name).alias("variant"), pl.all())


def _jobs(table: pl.DataFrame, division: str) -> pl.DataFrame:
    """Return times, processors and group of the jobs with all times."""
    if "kind" in table.columns:
        table = table.filter(pl.col("kind") == "job")
    procs = (pl.col("procs") if "procs" in table.columns else pl.lit(1.0)).cast(pl.Float64)
    group = pl.col(division).cast(pl.String) if division != "size" else _size_class(procs)
    times = [pl.col(name).cast(pl.Float64) for name in _TIMES]
    found = table.select(*times, procs.alias("procs"), group.alias(division))
    return found.filter(pl.all_horizontal(pl.col(*_TIMES).is_finite()))


def _size_class(procs: pl.Expr) -> pl.Expr:
    found: pl.Expr = pl.lit(SIZE_CLASSES[-1])
    for bound, name in zip(reversed(_BOUNDS), reversed(SIZE_CLASSES[:-1]), strict=True):
        found = pl.when(procs <= bound).then(pl.lit(name)).otherwise(found)
    return found
