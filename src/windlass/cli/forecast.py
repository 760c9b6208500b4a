"""``windlass forecast``: how well forecasters say how a series goes on."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich import box
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from windlass.cli.terminal import terminal
from windlass.io import check_file, write_text
from windlass.io.traces.helios import read_helios
from windlass.io.traces.series import TraceSeries, read_series
from windlass.model import InputError
from windlass.report import BEGINS
from windlass.report.html_fragments import PageSection, text
from windlass.report.page import page
from windlass.report.pictures import Line, Picture, part
from windlass.scale.backtest import Backtest, backtest
from windlass.scale.forecast import forecasters, make

_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_READERS = ("csv", "helios")
#: How many rows of the test part a picture shows.
_SHOWN = 600


@dataclass(frozen=True, slots=True)
class ForecastOptions:
    """What is asked.

    Parameters
    ----------
    file
        The series.
    kind
        How it is read: one of csv, helios.
    columns
        Which columns; all where there is none.
    models
        Forecasters.
    freq, test, launch
        s: a row, the last part, which is to test with, and the time that an instance takes to start.
    seasons
        s
    """

    file: Path
    kind: str
    columns: tuple[str, ...]
    models: tuple[str, ...]
    freq: float
    seasons: tuple[float, ...]
    test: float
    launch: float

    def rows(self, span: float) -> int:
        """So many rows, at least one."""
        return max(1, math.ceil(span / self.freq - 1e-9))

    @property
    def steps(self) -> tuple[int, ...]:
        """One row ahead, and as many as an instance takes to start."""
        return tuple(sorted({1, self.rows(self.launch)}))


def seconds(name: str, span: str) -> float:
    """A span of time, s.

    Parameters
    ----------
    name
        Of the option.
    span
        A number and a unit: s, min, h, d or w.

    Raises
    ------
    InputError
        It is none, or 0.

    Examples
    --------
    >>> seconds("--freq", "10min"), seconds("--test", "4w")
    (600.0, 2419200.0)
    """
    found = re.fullmatch(r"([0-9]*\.?[0-9]+) ?([a-z]+)", span.strip())
    if not found or found[2] not in _UNITS or float(found[1]) == 0:
        raise InputError(
            f"{name} is {span!r}, expected a number above 0 and one of {', '.join(_UNITS)}, as in 10min"
        )
    return float(found[1]) * _UNITS[found[2]]


def forecast_command(question: ForecastOptions, *, as_json: bool, report: Path | None) -> None:
    """Test the forecasters and show how they did."""
    _check(question)
    if report is not None:
        check_file("--report", report, (question.file,), BEGINS)
    series = _read(question)
    found = _tested(question, series)
    if report is not None:
        write_text(_page(question, series, found), report)
    if as_json:
        sys.stdout.write(json.dumps(_tree(question, series, found), allow_nan=False) + "\n")
        return
    console = terminal()
    for note in series.notes:
        console.print(f"{series.name}: {note}")
    for place, step in enumerate(question.steps):
        console.print(_table(question, step, [(name, result, place) for name, result in found]))


def _check(question: ForecastOptions) -> None:
    known = forecasters()
    for name in question.models:
        if name not in known:
            raise InputError(f"--models: unknown forecaster {name!r}, expected some of {', '.join(known)}")
    if not question.models:
        raise InputError(f"--models: none, expected some of {', '.join(known)}")
    if question.kind not in _READERS:
        raise InputError(f"--format is {question.kind!r}, expected one of {', '.join(_READERS)}")


def _read(question: ForecastOptions) -> TraceSeries:
    if question.kind == "csv":
        return read_series(question.file, question.freq, question.columns)
    series = read_helios(question.file)
    if question.freq != series.period:
        raise InputError(f"--freq: {question.file} has rows of {series.period:g} s, expected 10min")
    chosen = question.columns or series.columns
    for name in chosen:
        if name not in series.columns:
            raise InputError(f"--columns: no column {name!r}, expected some of {', '.join(series.columns)}")
    return dataclasses.replace(
        series, columns=chosen, rows=series.rows[:, [series.columns.index(name) for name in chosen]]
    )


def _tested(question: ForecastOptions, series: TraceSeries) -> list[tuple[str, Backtest]]:
    seasons = [max(2, round(season / question.freq)) for season in question.seasons]
    test = question.rows(question.test)
    if test >= len(series.rows):
        raise InputError(
            f"--test: {test:,} rows, expected fewer than the {len(series.rows):,} of {question.file}"
        )
    found = []
    with _bar(question.models) as told:
        for name in question.models:
            result = backtest(
                make(name, seasons), series.rows, test, question.steps, season=min(seasons), told=told(name)
            )
            found.append((name, result))
    return found


@contextmanager
def _bar(models: Sequence[str]) -> Iterator[Callable[[str], Callable[[int, int], None] | None]]:
    """A bar a forecaster on standard error; none where nobody would see it."""
    if not sys.stderr.isatty():
        yield lambda name: None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=terminal(stderr=True), transient=True) as bar:
        tasks = {name: bar.add_task(f"{name}: learns", total=None, visible=False) for name in models}

        def told(name: str) -> Callable[[int, int], None]:
            bar.update(tasks[name], visible=True)

            def update(done: int, total: int) -> None:
                bar.update(tasks[name], description=f"{name}: forecasts", completed=done, total=total)

            return update

        yield told


def _table(question: ForecastOptions, step: int, found: Sequence[tuple[str, Backtest, int]]) -> Table:
    ahead = f"{step} row{'s' * (step > 1)} ahead ({step * question.freq:g} s)"
    table = Table(
        "forecaster",
        "MSE",
        "PMSE",
        "MASE",
        "WQL",
        "fit, s",
        "forecast, ms",
        title=ahead,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    best = min((result.scores[place].mse for _, result, place in found), default=math.nan)
    for name, result, place in found:
        score = result.scores[place]
        cells = (score.mse, score.pmse, score.mase, score.wql, result.fit, 1e3 * result.forecast)
        style = "bold" if score.mse == best else None
        table.add_row(name, *(f"{cell:.4g}" for cell in cells), style=style)
    return table


def _tree(question: ForecastOptions, series: TraceSeries, found: Sequence[tuple[str, Backtest]]) -> object:
    return {
        "series": series.name,
        "columns": list(series.columns),
        "rows": len(series.rows),
        "notes": list(series.notes),
        "test_rows": question.rows(question.test),
        "models": [
            {
                "name": name,
                "fit_s": result.fit,
                "forecast_s": result.forecast,
                "scores": [
                    {key: _finite(value) for key, value in dataclasses.asdict(score).items()}
                    for score in result.scores
                ],
            }
            for name, result in found
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _page(question: ForecastOptions, series: TraceSeries, found: Sequence[tuple[str, Backtest]]) -> str:
    head = (
        f'<header><p class="kicker">Windlass forecasts</p><h1>{text(series.name)}</h1><p class="lead">'
        f"{len(series.rows):,} rows of {question.freq:g} s, the last {question.rows(question.test):,} to test with."
        "</p></header>"
    )
    tables = [_html_table(question, place, step, found) for place, step in enumerate(question.steps)]
    drawn = part(_picture(question, series, found))
    return page(
        series.name,
        [PageSection(head), *tables, PageSection(f"<section>{drawn.html}</section>", drawn.plots)],
    )


def _html_table(
    question: ForecastOptions, place: int, step: int, found: Sequence[tuple[str, Backtest]]
) -> PageSection:
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{cell}</td>"
            for cell in (
                text(name),
                *(
                    f"{value:.4g}"
                    for value in (
                        result.scores[place].mse,
                        result.scores[place].pmse,
                        result.scores[place].mase,
                        result.scores[place].wql,
                        result.fit,
                        1e3 * result.forecast,
                    )
                ),
            )
        )
        + "</tr>"
        for name, result in found
    )
    names = "".join(
        f"<th>{name}</th>" for name in ("forecaster", "MSE", "PMSE", "MASE", "WQL", "fit, s", "forecast, ms")
    )
    title = f"{step} row{'s' * (step > 1)} ahead, {step * question.freq:g} s"
    return PageSection(
        f'<section><h2>{title}</h2><div class="scroll"><table class="claims"><thead><tr>{names}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _picture(
    question: ForecastOptions, series: TraceSeries, found: Sequence[tuple[str, Backtest]]
) -> Picture:
    step = question.steps[-1]
    truth = found[0][1].made[-1].truth[:_SHOWN, 0]
    hours = (np.arange(len(truth)) * question.freq / 3600.0).tolist()
    lines = [Line("truth", hours, truth.tolist())]
    lines += [Line(name, hours, result.made[-1].mean[:_SHOWN, 0].tolist()) for name, result in found]
    title = f"{series.columns[0]}, forecast {step * question.freq:g} s before"
    return Picture("course", title, "hours of the test part", series.columns[0], tuple(lines))
