"""The page's header, verdict, notes, legend and table of metrics, and the scenario and version at its end."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

import polars as pl

from windlass.report.by_hour import dates
from windlass.report.columns import Cell, MetricColumn, metric_columns
from windlass.report.html_fragments import heading, key, named, remarks, rows, text
from windlass.report.job_columns import JOB, VariantLane, lanes, other_kinds, row_noun, rows_of
from windlass.report.units import counted, plural
from windlass.results import Results

#: Number of metrics above which their table has narrow columns …
_MANY = 9
#: … and above which those that are the same in all variants have a sentence in place of a column.
_TOO_MANY = 12


def head(results: Results) -> str:
    """Return the header: the scenario's name, and the numbers of variants, jobs, processors and seeds."""
    first = results.variants[0].outcomes if results.variants else ()
    seeds = max((len(variant.outcomes) for variant in results.variants), default=0)
    parts = [counted(len(results.variants), "variant")]
    if first:
        outcomes = [outcome for variant in results.variants for outcome in variant.outcomes]
        own = row_noun(outcomes[0])
        kinds = (JOB, *other_kinds(lanes(results)))
        sizes = {kind: {_count(rows_of(outcome.jobs, kind)) for outcome in outcomes} for kind in kinds}
        # A world without jobs reports the counts of its own kinds of rows only.
        shown = [kind for kind in kinds if max(sizes[kind])] or [JOB]
        pools = {outcome.processors for variant in results.variants for outcome in variant.outcomes}
        parts += [_span(sizes[kind], own if kind == JOB else kind) for kind in shown]
        parts += [_span(pools, "processor"), counted(seeds, "seed")]
        parts += filter(None, [text(dates(lanes(results)))])
    return heading(results.scenario, " · ".join(parts))


def _count(table: pl.DataFrame) -> int:
    """Return the number of jobs or tasks for which the rows of a table stand."""
    return int(table["stands_for"].sum()) if "stands_for" in table.columns else len(table)


def _span(counts: set[int], noun: str) -> str:
    if len(counts) == 1:
        return counted(max(counts), noun)
    return f"{min(counts):,} to {max(counts):,} {plural(noun)}"


def notes(results: Results) -> str:
    """Return the notes on the input; empty without notes."""
    return remarks(results.notes())


def legend(lanes: tuple[VariantLane, ...]) -> str:
    """Return the variants with their line styles, as buttons that hide a variant in all plots; empty for one."""
    if len(lanes) < 2:
        return ""
    buttons = "".join(
        f'<button type="button" data-variant="{lane.position}" aria-pressed="true" title="show or hide">'
        f"{key(lane)}<span>{text(lane.name)}</span></button>"
        for lane in lanes
    )
    return f'<nav class="legend" aria-label="variants">{buttons}</nav>'


def metrics(results: Results, lanes: tuple[VariantLane, ...]) -> str:
    """Return the table of metrics, with a row per variant."""
    columns, same = _divided(metric_columns(results))
    heads = "".join(_head(column) for column in columns)
    body = rows(
        [
            f'<th scope="row">{named(lane)}</th>' + "".join(_cell(column.cells[row]) for column in columns)
            for row, lane in enumerate(lanes)
        ]
    )
    seeds = max((len(lane.outcomes) for lane in lanes), default=0)
    words = (
        [
            "Bold: the best variant and those neither significantly worse (paired 95 % confidence interval) nor worse "
            "in three of four seeds or blocks; nothing is bold if no variant is significantly worse."
        ]
        if len(lanes) > 1
        else []
    )
    if seeds > 1:
        words.append(
            f"Mean of {seeds} seeds ± half width of its 95 % confidence interval; no ± if all seeds are equal."
        )
    equal = f'<p class="lead">The same in all variants: {"; ".join(map(_of_all, same))}.</p>' if same else ""
    return (
        f'<section><h2>Metrics</h2><p class="lead">{" ".join(words)}</p>{equal}'
        f'<div class="scroll"><table class="wide{" many" if _is_wide(columns) else ""}"><thead><tr>'
        f'<th scope="col">variant</th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></section>"
    )


def _divided(columns: tuple[MetricColumn, ...]) -> tuple[list[MetricColumn], list[MetricColumn]]:
    """Return the columns of the table, and those left out because all variants have the same value."""
    same = [column for column in columns if len({cell.text for cell in column.cells}) == 1]
    if len(columns) <= _TOO_MANY or len(columns) == len(same):
        return list(columns), []
    return [column for column in columns if column not in same], same


def _of_all(column: MetricColumn) -> str:
    """Return a metric and its value in all variants, such as ``jobs 5,000``."""
    value = f"{column.cells[0].text} {column.unit}".rstrip().replace(" ", "\N{NO-BREAK SPACE}")
    return text(f"{column.label}\N{NO-BREAK SPACE}{value}")


def _is_wide(columns: Sequence[MetricColumn]) -> bool:
    """Return whether a table needs narrow columns: it has many, or longer cells as ± of several seeds makes them."""
    return sum(2 if any("±" in cell.text for cell in each.cells) else 1 for each in columns) > _MANY


def _head(column: MetricColumn) -> str:
    unit = f'<span class="unit">{text(column.unit)}</span>' if column.unit else ""
    return f'<th scope="col"><span class="label">{text(column.label)}</span>{unit}</th>'


def _cell(cell: Cell) -> str:
    # A narrow column breaks before ±, and not after it.
    whole = text(cell.text.replace("± ", "±\N{NO-BREAK SPACE}"))
    shown = f"<b>{whole}</b>" if cell.best else whole
    return f'<td title="{text(cell.full)}">{shown}</td>'


def scenario(results: Results) -> str:
    """Return the scenario with all defaults, collapsed; empty if it is unknown."""
    return (
        f"<details><summary>The scenario with all defaults</summary><pre>{text(results.as_run)}</pre></details>"
        if results.as_run
        else ""
    )


def foot() -> str:
    """Return the footer with the version that wrote the page."""
    try:
        made_by = f"Windlass {version('windlass')}"
    except PackageNotFoundError:
        made_by = "Windlass, run from its sources"
    return (
        f"<footer>Written by {text(made_by)}. This page is self-contained and loads no other files.</footer>"
    )
