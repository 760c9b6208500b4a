"""``windlass forecast``: the accuracy of forecasters on a recorded series."""

from __future__ import annotations

import dataclasses
import math
import re
from dataclasses import dataclass
from pathlib import Path

from windlass.cli.forecast_output import SCALED, best_line, page_of, score_table, scores_tree
from windlass.cli.output import check_report, print_lines, print_tables, write_json, write_report
from windlass.cli.progress import Update, progress_rows
from windlass.io.traces.helios import read_helios
from windlass.io.traces.series import TraceSeries, read_series
from windlass.model import InputError
from windlass.model.nearest import did_you_mean
from windlass.report.units import duration
from windlass.scale.backtest import Backtest, backtest
from windlass.scale.forecast import forecasters, make

_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_READERS = ("csv", "helios")


@dataclass(frozen=True, slots=True)
class ForecastOptions:
    """The series, and how forecasters are tested on it.

    Parameters
    ----------
    file
        The file of the series.
    kind
        Its format: csv or helios.
    columns
        Columns to forecast; empty for all.
    models
        Names of forecasters.
    freq
        Time between rows, s; None for the most frequent one of the file.
    seasons
        Periods, s.
    test
        Length of the test part, the last of the series, s.
    launch
        Time that an instance takes to start, s.
    """

    file: Path
    kind: str
    columns: tuple[str, ...]
    models: tuple[str, ...]
    freq: float | None
    seasons: tuple[float, ...]
    test: float
    launch: float

    @property
    def period(self) -> float:
        """Time between rows, s; known after the file is read."""
        assert self.freq is not None
        return self.freq

    def rows(self, span: float) -> int:
        """Return the rows of a span of time (s), at least one."""
        return max(1, math.ceil(span / self.period - 1e-9))

    @property
    def steps(self) -> tuple[int, ...]:
        """Rows ahead that are scored: one, and the rows that an instance takes to start."""
        return tuple(sorted({1, self.rows(self.launch)}))


def seconds(name: str, span: str) -> float:
    """Return a span of time in seconds.

    Parameters
    ----------
    name
        The option, for the message.
    span
        A number and a unit: s, min, h, d or w.

    Raises
    ------
    InputError
        The text is not a span, or it is 0.

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
    """Test the forecasters, print their scores, and write the report."""
    _check(question)
    check_report(report, (question.file,))
    series = _read(question)
    question = dataclasses.replace(question, freq=series.period)
    found = _tested(question, series)
    if report is not None:
        write_report(report, page_of(question, series, found))
    if as_json:
        write_json(scores_tree(question, series, found))
        return
    print_lines([best_line(question, found)])
    print_lines(f"{series.name}: {note}" for note in series.notes)
    for place, step in enumerate(question.steps):
        print_tables(score_table(question, step, [(name, result, place) for name, result in found]))
    print_lines([SCALED])


def _check(question: ForecastOptions) -> None:
    known = forecasters()
    expected = f"expected some of {', '.join(known)}"
    for name in question.models:
        if name not in known:
            raise InputError(f"--models: unknown forecaster {name!r}, {expected}{did_you_mean(name, known)}")
    for name in question.models:
        if question.models.count(name) > 1:
            raise InputError(f"--models: {name} is given twice, expected each forecaster once")
    if not question.models:
        raise InputError(f"--models: no name given, {expected}")
    if question.kind not in _READERS:
        raise InputError(f"--format is {question.kind!r}, expected one of {', '.join(_READERS)}")


def _read(question: ForecastOptions) -> TraceSeries:
    if question.kind == "csv":
        return read_series(question.file, question.freq, question.columns)
    series = read_helios(question.file)
    if question.freq not in (None, series.period):
        raise InputError(
            f"--freq: {question.file} has rows of {duration(series.period)}, expected --freq 10min"
        )
    chosen = question.columns or series.columns
    for name in chosen:
        if name not in series.columns:
            hint = did_you_mean(name, series.columns)
            raise InputError(
                f"--columns: no column {name!r}, expected some of {', '.join(series.columns)}{hint}"
            )
    return dataclasses.replace(
        series, columns=chosen, rows=series.rows[:, [series.columns.index(name) for name in chosen]]
    )


def _tested(question: ForecastOptions, series: TraceSeries) -> list[tuple[str, Backtest]]:
    seasons = [max(2, round(season / question.period)) for season in question.seasons]
    test = question.rows(question.test)
    if test >= len(series.rows):
        raise InputError(
            f"--test: {test:,} rows, expected fewer than the {len(series.rows):,} of {question.file}"
        )
    found = []
    with progress_rows() as rows:
        for name in question.models:
            update = rows.row(f"{name}: fitting")

            def scored(done: int, total: int, name: str = name, update: Update = update) -> None:
                update(f"{name}: forecasting", done, total)

            result = backtest(
                make(name, seasons),
                series.rows,
                test,
                question.steps,
                season=min(seasons),
                notify=scored if rows.shown else None,
            )
            found.append((name, result))
    return found
