"""Metrics of all variants as columns of text, for the terminal and for the page."""

from __future__ import annotations

import math
from dataclasses import dataclass

from windlass.report.units import SECONDS, Unit, decimals_of, number, unit_for, without_unit
from windlass.results import Results, Summary
from windlass.results.verdict import comparable, compare


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric of one variant.

    Parameters
    ----------
    text
        The rounded value, with the half width of its confidence interval if there is one.
    full
        The value with up to ten digits, its half width and its unit.
    best
        True if the value is printed in bold, see :func:`metric_columns`.
    """

    text: str
    full: str
    best: bool


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """One metric: its name in words, the common unit of its cells, and one cell per variant."""

    label: str
    unit: str
    cells: tuple[Cell, ...]


def metric_columns(results: Results) -> tuple[MetricColumn, ...]:
    """Return one column per field of the metrics' class, with one cell per variant in the order of the results.

    A metric that applies to no variant has no column. Metrics of one kind, such as the mean and the median wait, share
    a unit. Variants that differ only in their policies are compared (:mod:`windlass.results.verdict`). The best of them
    is marked, and so is every variant that is not significantly worse than it (paired 95 % confidence interval). If no
    variant is significantly worse, no cell is marked. The recorded schedule of a log and bounds are never marked.
    """
    columns = [
        summaries
        for summaries in zip(*(variant.summaries() for variant in results.variants), strict=True)
        if not all(summary.sometimes and math.isnan(summary.mean) for summary in summaries)
    ]
    return tuple(
        _column(summaries, _unit(summaries, columns), _best(results, summaries[0])) for summaries in columns
    )


def _best(results: Results, metric: Summary) -> list[bool]:
    best = [False] * len(results.variants)
    for rows in comparable(results):
        if len(rows) > 1 and metric.better:
            found = compare([results.variants[row] for row in rows], metric.metric, metric.better)
            for row, good in zip(rows, found.supported(), strict=True):
                # The recorded schedule and bounds are no policies that a user could choose.
                best[row] = good and not (results.variants[row].recorded or results.variants[row].bound)
    return best


def mark_best(values: list[float], texts: list[str], sign: int) -> list[bool]:
    """Return which values are best: the highest for sign 1, the lowest for −1, none for 0.

    Values with equal texts count as equal. If all texts are equal, no value is best.

    Examples
    --------
    >>> mark_best([1.0, 2.0, 1.0], ["1", "2", "1"], -1)
    [True, False, True]
    """
    known = [sign * value for value in values if not math.isnan(value)]
    if sign == 0 or not known or len(set(texts)) < 2:
        return [False] * len(values)
    best = texts[values.index(sign * max(known))]
    return [text == best for text in texts]


def _unit(summaries: tuple[Summary, ...], columns: list[tuple[Summary, ...]]) -> Unit:
    metric = summaries[0].metric
    same_kind = (column for column in columns if _kind(column[0].metric) == _kind(metric))
    return unit_for(metric, (summary.mean for column in same_kind for summary in column))


def _kind(metric: str) -> str:
    return label(metric).split()[-1]


def _column(summaries: tuple[Summary, ...], unit: Unit, best: list[bool]) -> MetricColumn:
    metric = summaries[0].metric
    means = [summary.mean for summary in summaries]
    whole = unit.symbol == "" and all(mean == round(mean) for mean in means if math.isfinite(mean))
    texts = [number(mean * unit.factor, 0 if whole else None) for mean in means]
    cells = (
        Cell(text + _spread(summary, unit), _full(summary, metric), good)
        for text, summary, good in zip(texts, summaries, best, strict=True)
    )
    return MetricColumn(label(metric), unit.symbol, tuple(cells))


def label(metric: str) -> str:
    """Return the name of a metric in words.

    >>> label("mean_job_wait_s"), label("cost_usd")
    ('mean job wait', 'cost')
    """
    return without_unit(metric)


def _spread(summary: Summary, unit: Unit) -> str:
    if math.isnan(summary.half_width) or summary.half_width == 0:
        return ""
    # More digits than the mean has would suggest a precision that the half width does not have.
    places = decimals_of(summary.mean * unit.factor)
    return f" ± {number(summary.half_width * unit.factor, places)}"


def _full(summary: Summary, metric: str) -> str:
    unit = f" {SECONDS.symbol}" if metric.endswith("_s") else ""
    spread = "" if math.isnan(summary.half_width) else f" ± {summary.half_width:,.6g}"
    return f"{summary.mean:,.10g}{spread}{unit}"
