"""Scores of forecasters as a table, as JSON, and as an HTML page with a plot."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.table import Table

from windlass.io.traces.series import TraceSeries
from windlass.report.forecasts import lead_words
from windlass.report.html_fragments import PageSection, answer, heading, remarks, text
from windlass.report.page import page
from windlass.report.pictures import Line, Picture, part
from windlass.report.units import counted, duration, percentage
from windlass.scale.backtest import Backtest
from windlass.scale.forecast.rows import filled
from windlass.scale.forecast.scaling import ColumnScaling

if TYPE_CHECKING:
    from windlass.cli.forecast import ForecastOptions

#: Columns of the tables.
_HEADS = ("forecaster", "MSE", "PMSE", "MASE", "WQL", "fit, s", "forecast, ms")
#: What the errors of the tables are scaled by.
SCALED = "MSE and PMSE are of columns divided by their largest value in the training rows."
#: Rows of the test part that the plot shows, and the number of forecasters: more of them hide one another.
_SHOWN, _DRAWN = 168, 3


def best_line(question: ForecastOptions, found: Sequence[tuple[str, Backtest]]) -> str:
    """Return the forecaster with the smallest MSE for each number of rows ahead, and its distance to the second."""
    return f"Lowest MSE: {'; '.join(_best(step, place, found) for place, step in enumerate(question.steps))}."


def _best(step: int, place: int, found: Sequence[tuple[str, Backtest]]) -> str:
    known = sorted((result.scores[place].mse, name) for name, result in found)
    (least, name), *others = known
    ahead = _ahead(step)
    equal = [name, *(other for mse, other in others if mse == least)]
    if len(equal) > 1 or not others:
        return f"{' and '.join(equal)}, {ahead}"
    second, other = others[0]
    errors = {own: result.squared[place] for own, result in found if result.squared}
    if name not in errors or other not in errors:
        return f"{name}, {ahead} ({percentage(1 - least / second)} less than {other})"
    return f"{name}, {ahead} ({lead_words(errors[name], errors[other], other)})"


def score_table(question: ForecastOptions, step: int, found: Sequence[tuple[str, Backtest, int]]) -> Table:
    """Return the scores of one step as a table, with the smallest MSE in bold.

    Parameters
    ----------
    question
        The options.
    step
        Rows ahead.
    found
        Each forecaster's name, its results, and the place of the step in them.
    """
    table = Table(
        *_HEADS,
        title=f"{_ahead(step)} ({duration(step * question.period)})",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    best = min((result.scores[place].mse for _, result, place in found), default=math.nan)
    for name, result, place in found:
        style = "bold" if result.scores[place].mse == best else None
        table.add_row(name, *_cells(result, place), style=style)
    return table


def scores_tree(
    question: ForecastOptions, series: TraceSeries, found: Sequence[tuple[str, Backtest]]
) -> dict[str, object]:
    """Return the scores as plain values for JSON, with the divisor of each column in MSE and PMSE."""
    train = filled(series.rows)[: -question.rows(question.test)]
    return {
        "series": series.name,
        "columns": list(series.columns),
        "rows": len(series.rows),
        "notes": list(series.notes),
        "test_rows": question.rows(question.test),
        "scaling": {
            "scores": ["mse", "pmse"],
            "by": "largest value of each column in the training rows",
            "divisors": dict(zip(series.columns, ColumnScaling.of(train).most.tolist(), strict=True)),
        },
        "models": [
            {
                "name": name,
                "fit_s": result.fit,
                "forecast_s": result.forecast,
                "scores": [dataclasses.asdict(score) for score in result.scores],
            }
            for name, result in found
        ],
    }


def page_of(question: ForecastOptions, series: TraceSeries, found: Sequence[tuple[str, Backtest]]) -> str:
    """Return a page with a table for each step, and a plot of the longest step."""
    parts = (
        counted(len(found), "forecaster"),
        f"{len(series.rows):,} rows of {duration(question.period)}",
        f"the last {question.rows(question.test):,} are for the test",
    )
    notes = (SCALED.removesuffix("."), *series.notes)
    head = heading(series.name, " · ".join(parts)) + answer([best_line(question, found)]) + remarks(notes)
    tables = [_html_table(question, place, step, found) for place, step in enumerate(question.steps)]
    drawn = part(picture_of(question, series, found))
    return page(
        series.name,
        [PageSection(head), *tables, PageSection(f"<section>{drawn.html}</section>", drawn.plots)],
    )


def picture_of(
    question: ForecastOptions, series: TraceSeries, found: Sequence[tuple[str, Backtest]]
) -> Picture:
    """Return the plot of the first column and its best forecasts, over the beginning of the test part."""
    step = question.steps[-1]
    whole = found[0][1].made[-1].truth[:, 0]
    truth = whole[:_SHOWN]
    hours = (np.arange(len(truth)) * question.period / 3600.0).tolist()
    errors = [result.scores[-1].mse for _, result in found]
    # Forecasters without an error are last.
    best = [found[row] for row in np.argsort(errors, kind="stable")[:_DRAWN]]
    lines = [Line(name, hours, result.made[-1].mean[:_SHOWN, 0].tolist()) for name, result in best]
    lines.append(Line("truth", hours, truth.tolist(), measured=True))
    parts = [f"{len(truth):,} of {len(whole):,} rows of the test part"] if len(truth) < len(whole) else []
    parts += [f"the {len(best)} forecasters with the lowest MSE"] if len(best) < len(found) else []
    caption = f"Shown: {' and '.join(parts)}." if parts else ""
    title = f"{series.columns[0]}, forecast {duration(step * question.period)} ahead"
    return Picture("course", title, "hours of the test part", series.columns[0], tuple(lines), caption)


def _html_table(
    question: ForecastOptions, place: int, step: int, found: Sequence[tuple[str, Backtest]]
) -> PageSection:
    rows = "".join(
        f"<tr><th scope='row'>{text(name)}</th>{''.join(f'<td>{cell}</td>' for cell in _cells(result, place))}</tr>"
        for name, result in found
    )
    names = "".join(f"<th>{name}</th>" for name in _HEADS)
    title = f"{_ahead(step)}, {duration(step * question.period)}"
    return PageSection(
        f'<section><h2>{title}</h2><div class="scroll"><table class="wide"><thead><tr>{names}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _cells(result: Backtest, place: int) -> tuple[str, ...]:
    score = result.scores[place]
    values = (score.mse, score.pmse, score.mase, score.wql, result.fit, 1e3 * result.forecast)
    return tuple("–" if math.isnan(value) else f"{value:.4g}" for value in values)


def _ahead(step: int) -> str:
    return f"{step} row{'s' * (step > 1)} ahead"
