"""The report's section on slowdown by partition, queue, group and user, for tables that have these columns."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.report.columns import mark_best
from windlass.report.html_fragments import named, rows, text
from windlass.report.job_columns import VariantLane, has
from windlass.report.phrases import listed
from windlass.report.units import number, share
from windlass.results.metrics.site import bounded_slowdown

_KINDS = ("partition", "queue", "group", "user")
#: Maximum number of columns of one kind: the names with the most jobs.
_MOST = 6
_TIMES = ("submit_s", "start_s", "end_s")


def section(lanes: tuple[VariantLane, ...]) -> str:
    """Return one table per kind: a row per variant, a column per name with the most jobs; empty without names."""
    kinds = [kind for kind in _KINDS if _known(lanes, kind)]
    if not kinds:
        return ""
    tables = "".join(_table(lanes, kind) for kind in kinds)
    return (
        f"<section><h2>Slowdown by {listed(kinds)}</h2>"
        '<p class="lead">Mean bounded slowdown of the jobs of each. Bold: lowest of all variants.</p>'
        f"{tables}</section>"
    )


def _known(lanes: tuple[VariantLane, ...], kind: str) -> bool:
    """Return whether all variants have the column, with at least two names in it."""
    if not lanes or not all(has(lane, kind, *_TIMES) for lane in lanes):
        return False
    return len(_names(lanes[0], kind)) > 1


def _names(lane: VariantLane, kind: str) -> list[str]:
    """Return the names in the column, the one with the most jobs first; all variants have the same jobs."""
    column = pl.concat([outcome.jobs[kind].cast(pl.String) for outcome in lane.outcomes]).drop_nulls()
    counts = column.value_counts(name="jobs").sort(["jobs", kind], descending=[True, False])
    return counts[kind].to_list()


def _table(lanes: tuple[VariantLane, ...], kind: str) -> str:
    names = _names(lanes[0], kind)
    shown = names[:_MOST]
    heads = "".join(f'<th scope="col">{text(name)}</th>' for name in shown)
    slowdowns = [_slowdowns(lane, kind) for lane in lanes]
    of_jobs = "".join(
        f"<td>{text(share(len(slowdowns[0].get(name, ())), sum(map(len, slowdowns[0].values()))))}</td>"
        for name in shown
    )
    columns = [_cells([found.get(name) for found in slowdowns]) for name in shown]
    body = rows(
        [
            f'<th scope="row">{named(lane)}</th>' + "".join(column[row] for column in columns)
            for row, lane in enumerate(lanes)
        ]
    )
    rest = len(names) - len(shown)
    more = f" ({rest:,} more not shown)" if rest else ""
    return (
        f'<div class="scroll"><table class="wide"><thead><tr><th scope="col">by {kind}{more}</th>{heads}</tr></thead>'
        f'<tbody><tr class="quiet"><th scope="row">share of jobs</th>{of_jobs}</tr>{body}</tbody></table></div>'
    )


def _slowdowns(lane: VariantLane, kind: str) -> dict[str, NDArray[np.float64]]:
    """Return the bounded slowdowns of the jobs of each name."""
    table = pl.concat(
        outcome.jobs.select(pl.col(kind).cast(pl.String), *(pl.col(name).cast(pl.Float64) for name in _TIMES))
        for outcome in lane.outcomes
    ).drop_nulls()
    submit, start, end = (table[name].to_numpy() for name in _TIMES)
    slowed = table.select(kind).with_columns(slowed=bounded_slowdown(submit, start, end))
    return {str(name): group["slowed"].to_numpy() for (name,), group in slowed.group_by(kind)}


def _cells(values: list[NDArray[np.float64] | None]) -> list[str]:
    means = [float(each.mean()) if each is not None and len(each) else math.nan for each in values]
    texts = [number(mean) for mean in means]
    return [
        f"<td><b>{each}</b></td>" if good else f"<td>{each}</td>"
        for each, good in zip(texts, mark_best(means, texts, -1), strict=True)
    ]
