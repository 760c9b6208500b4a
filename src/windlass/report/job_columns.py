"""Columns of a world's jobs tables as arrays, and the line style of each variant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.report.palette import Stroke, quiet_stroke, stroke, stroke_in
from windlass.results import Outcome, Results

#: Kind of all rows of a table without a column ``kind``.
JOB = "job"
#: Ends and starts on a worker may differ by this much from rounding, s.
_ROUNDED = 1e-6


@dataclass(frozen=True, slots=True)
class VariantLane:
    """One variant on the page: its position, name, stroke in all plots, and outcomes."""

    position: int
    name: str
    stroke: Stroke
    outcomes: tuple[Outcome, ...]
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class JobTimes:
    """Times and processors of jobs; jobs without a time are omitted.

    Parameters
    ----------
    submit, start, end
        (n,) times, s.
    procs
        (n,) processors; all 1 if the table has no such column.
    lacking
        Number of omitted jobs.
    each
        Number of jobs that a row stands for: a table may have one in several.
    worker
        (n,) worker of each task; None if the table has no such column, or tasks of a worker overlap.
    """

    submit: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    procs: NDArray[np.float64]
    lacking: int
    each: int = 1
    worker: NDArray[np.int64] | None = None

    @property
    def wait(self) -> NDArray[np.float64]:
        """(n,) time from submission to start, s."""
        return self.start - self.submit

    @property
    def queued(self) -> bool:
        """Whether any of them waited."""
        return bool((self.wait > 0).any())


def lanes(results: Results) -> tuple[VariantLane, ...]:
    """Return all variants with their line styles: by position or, in a sweep, one colour per policy."""
    return tuple(
        VariantLane(position, variant.name, drawn, variant.outcomes, variant.recorded)
        for position, (variant, drawn) in enumerate(zip(results.variants, _strokes(results), strict=True))
    )


def _strokes(results: Results) -> list[Stroke]:
    points = list(dict.fromkeys(variant.point for variant in results.variants))
    names = list(dict.fromkeys(variant.own_name for variant in results.variants))
    found = []
    for position, variant in enumerate(results.variants):
        if variant.recorded:
            found.append(quiet_stroke())
        elif len(points) > 1:
            found.append(stroke_in(names.index(variant.own_name), points.index(variant.point)))
        else:
            found.append(stroke(position))
    return found


def other_kinds(lanes: Iterable[VariantLane]) -> tuple[str, ...]:
    """Return the kinds of rows other than jobs, such as tasks, sorted."""
    tables = [outcome.jobs for lane in lanes for outcome in lane.outcomes if "kind" in outcome.jobs.columns]
    return tuple(sorted({kind for table in tables for kind in table["kind"].unique()} - {JOB}))


def only(lanes: Iterable[VariantLane], kind: str) -> tuple[VariantLane, ...]:
    """Return the variants with only the rows of one kind, as in :func:`rows_of`."""
    return tuple(
        replace(lane, outcomes=tuple(replace(each, jobs=rows_of(each.jobs, kind)) for each in lane.outcomes))
        for lane in lanes
    )


def rows_of(table: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return a table's rows of one kind, with only the columns that have values for them.

    All rows of a table without a column ``kind`` are jobs.

    Examples
    --------
    >>> table = pl.DataFrame({"kind": ["job", "task"], "end_s": [1.0, 2.0], "procs": [4, None]})
    >>> rows_of(table, "task").columns, rows_of(table.drop("kind"), "task").height
    (['end_s'], 0)
    """
    if "kind" not in table.columns:
        return table if kind == JOB else table.clear()
    rows = table.filter(pl.col("kind") == kind).drop("kind")
    return rows.select(column for column in rows if len(rows) == 0 or column.null_count() < len(rows))


def has(lane: VariantLane, *columns: str) -> bool:
    """Return whether all jobs tables of a variant have these columns, and at least one of them has a row."""
    tables = [outcome.jobs for outcome in lane.outcomes]
    return all(set(columns) <= set(table.columns) for table in tables) and any(len(table) for table in tables)


def times(outcomes: Iterable[Outcome]) -> JobTimes:
    """Return the times of all jobs of these outcomes; tables need submit_s, start_s and end_s."""
    wanted = ("submit_s", "start_s", "end_s")
    tables = [outcome.jobs for outcome in outcomes]
    table = pl.concat(
        each.select(
            *(pl.col(name).cast(pl.Float64) for name in wanted),
            (pl.col("procs") if "procs" in each.columns else pl.lit(1)).cast(pl.Float64).alias("procs"),
            *(pl.col(name) for name in ("worker",) if name in each.columns and len(tables) == 1),
        )
        for each in tables
    )
    whole = table.filter(pl.all_horizontal(pl.col(*wanted).is_finite(), pl.col("procs").is_finite()))
    submit, start, end = (whole[name].to_numpy() for name in wanted)
    stands = [each["stands_for"].max() for each in tables if "stands_for" in each.columns and len(each)]
    most = max((int(each) for each in stands if isinstance(each, int)), default=1)
    worker = _workers(whole) if len(tables) == 1 and "worker" in whole.columns else None
    return JobTimes(submit, start, end, whole["procs"].to_numpy(), len(table) - len(whole), most, worker)


def row_noun(outcome: Outcome) -> str:
    """Return the word for a row of the table: the first metric of a world counts its jobs or tasks."""
    first = fields(outcome.metrics)[0].name
    return "task" if first == "tasks" and "kind" not in outcome.jobs.columns else JOB


def noun_of(lanes: Sequence[VariantLane]) -> str:
    """Return the word for a row of the tables of some variants, of which none may be left."""
    return row_noun(lanes[0].outcomes[0]) if lanes and lanes[0].outcomes else JOB


def _workers(table: pl.DataFrame) -> NDArray[np.int64] | None:
    """Return the worker of each row; None if one has two tasks at once, or is unknown."""
    known = table["worker"].cast(pl.Int64).fill_null(-1)
    ordered = table.select("worker", "start_s", "end_s").sort("worker", "start_s", "end_s")
    earlier = ordered["end_s"].shift(1)
    overlap = (ordered["worker"] == ordered["worker"].shift(1)) & (ordered["start_s"] < earlier - _ROUNDED)
    return None if overlap.any() or (known < 0).any() else known.to_numpy()
