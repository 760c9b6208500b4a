"""The report's section on the queue of each partition over time: processors requested by waiting jobs, stacked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.report.date_ticks import date_axis
from windlass.report.figures import framed_figure
from windlass.report.html_fragments import NOTHING, PageSection, chooser, figure, swatch
from windlass.report.job_columns import VariantLane, has
from windlass.report.palette import fill
from windlass.report.series import Binned, bin_edges, bin_width, binned, steps
from windlass.report.stacks import area, stacked
from windlass.report.timelines import MOST_BINS, axis_unit, step_words

#: Columns that name the part of a site that a job is submitted to; the first one known is used.
_KINDS = ("partition", "queue")
#: Names with an area of their own: those that are requested for longest. The others share one.
_MOST = 7
_OTHERS = "others"
_HEIGHT = 260
_TIMES = ("submit_s", "start_s", "end_s", "procs")


def section(lanes: tuple[VariantLane, ...]) -> PageSection:
    """Return the queue by partition, for the first seed of each variant; empty without partitions.

    Parameters
    ----------
    lanes
        All variants, with rows of jobs only.
    """
    kind = next((kind for kind in _KINDS if lanes and all(has(lane, kind, *_TIMES) for lane in lanes)), "")
    tables = [_jobs(lane, kind) for lane in lanes] if kind else []
    names = _names(tables, kind)
    if len(names) < 2 or not any(len(table) for table in tables):
        return NOTHING
    begin = min(float(table["submit_s"].min()) for table in tables)  # type: ignore[arg-type]
    span = max(float(table["end_s"].max()) for table in tables) - begin  # type: ignore[arg-type]
    if span <= 0:
        return NOTHING
    width, unit = bin_width(span, MOST_BINS), axis_unit(span)
    edges, plot, top = bin_edges(span, width), framed_figure(), 1.0
    for lane, table in zip(lanes, tables, strict=True):
        total = np.zeros(len(edges) - 1)
        for place, name in enumerate(names):
            bins = _queue(table.filter(_is(kind, place, names)), begin, edges)
            plot.add_trace(area(lane, place, name, edges * unit.factor, bins.mean))
            total += bins.mean
        top = max(top, float(total.max()))
    dates = date_axis(lanes, begin, span, unit.factor)
    shown = stacked("queues", _HEIGHT, plot, "processors", "time since the first submit", unit, top, dates)
    keys = "".join(swatch(fill(place), name) for place, name in enumerate(names))
    return PageSection(
        f"<section><h2>Queue by {kind}</h2>"
        f'<p class="lead">Processors requested by waiting jobs. {step_words(list(lanes), 0, width)}</p>'
        f'{chooser(lanes)}<ul class="parts">{keys}</ul><div class="plots">{figure(shown, "", "")}</div></section>',
        (shown,),
    )


def _jobs(lane: VariantLane, kind: str) -> pl.DataFrame:
    """Return the jobs of the first seed whose times are known."""
    table = lane.outcomes[0].jobs.select(
        pl.col(kind).cast(pl.String), *(pl.col(name).cast(pl.Float64) for name in _TIMES)
    )
    return table.filter(pl.all_horizontal(pl.col(*_TIMES).is_finite())).drop_nulls(kind)


def _names(tables: Sequence[pl.DataFrame], kind: str) -> list[str]:
    """Return the names with the largest queues over all variants, and one for all others."""
    if not tables:
        return []
    waited = pl.col("procs") * (pl.col("start_s") - pl.col("submit_s"))
    sums = pl.concat(tables).group_by(kind).agg(waited.sum().alias("waited"))
    ordered = sums.sort(["waited", kind], descending=[True, False])[kind].to_list()
    return ordered if len(ordered) <= _MOST + 1 else [*ordered[:_MOST], _OTHERS]


def _is(kind: str, place: int, names: Sequence[str]) -> pl.Expr:
    return pl.col(kind) == names[place] if place < _MOST else ~pl.col(kind).is_in(names[:_MOST])


def _queue(table: pl.DataFrame, begin: float, edges: NDArray[np.float64]) -> Binned:
    submit, start, procs = (table[name].to_numpy() for name in ("submit_s", "start_s", "procs"))
    return binned(steps(submit - begin, start - begin, procs), edges)
