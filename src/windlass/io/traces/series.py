"""A table with a time in each line: a series on an even grid of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from windlass.io.traces.columns import shown
from windlass.io.traces.csv_text import TextTable, csv_names, read_csv_text
from windlass.io.traces.files import read_text, stem
from windlass.model import InputError

_Floats = NDArray[np.float64]

#: What a column of times is called, by preference; else it is the first column that holds times.
_TIME_NAMES = ("time", "timestamp", "datetime", "date", "ds", "at", "t")
_FORMATS = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y-%m-%d")


@dataclass(frozen=True, slots=True, eq=False)
class TraceSeries:
    """Values on an even grid of time.

    Parameters
    ----------
    name
        How messages call it.
    begin
        The time of the first row, s; since 1970 where the file has dates.
    period
        Seconds from one row to the next.
    columns
        Names of the k columns.
    rows
        (t, k) values, NaN where nothing was measured.
    notes
        What was filled in or put together.
    """

    name: str
    begin: float
    period: float
    columns: tuple[str, ...]
    rows: _Floats
    notes: tuple[str, ...] = ()


def read_series(path: Path, period: float, columns: Sequence[str] = ()) -> TraceSeries:
    """Read a CSV file with one column of times and others of numbers.

    Rows that lie in one period are averaged, and periods without a row are gaps. Times are dates, or seconds; they may
    not go back and may not repeat.

    Parameters
    ----------
    path
        The file, plain or ``.gz``.
    period
        Seconds a row.
    columns
        Which columns to read; by default all but the time.

    Raises
    ------
    InputError
        There is no column of times or of that name; a time goes back or repeats; a value is negative, infinite or no
        number. Names file, line, column and value.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "use.csv"
    >>> _ = path.write_text("time,gpus\\n2020-04-01 00:00:00,3\\n2020-04-01 00:20:00,5\\n")
    >>> series = read_series(path, 600)
    >>> series.rows.ravel().tolist(), series.notes
    ([3.0, nan, 5.0], ('1 of 3 periods has no row',))
    """
    if not 0 < period < np.inf:
        raise InputError(f"period is {period}, expected a number of seconds above 0")
    text = read_text(path)
    table = read_csv_text(str(path), text, as_text=csv_names(str(path), text))
    if table.bad:
        raise InputError(f"{path}, line {table.bad[0].line}: {table.bad[0].reason}")
    time_name, times = _times(path, table.records)
    _check_clock(path, table, time_name, times)
    chosen = tuple(columns) or tuple(name for name in table.records.columns if name != time_name)
    for name in chosen:
        if name not in table.records.columns or name == time_name:
            raise InputError(f"{path}: no column {name!r}, found {', '.join(table.records.columns)}")
    if not chosen:
        raise InputError(f"{path}: no column beside the time {time_name!r}, expected at least one of numbers")
    values = np.stack([_values(path, table, name) for name in chosen], axis=1)
    return on_grid(stem(path), times, values, period, chosen)


def on_grid(
    name: str, times: ArrayLike, values: ArrayLike, period: float, columns: Sequence[str]
) -> TraceSeries:
    """Values (n, k) at times that do not go back, as a series: averaged in a period, NaN in periods without any.

    Raises
    ------
    InputError
        The grid would have over ten million rows, which a wrong unit of time makes.
    """
    at = np.asarray(times, dtype=np.float64)
    found = np.asarray(values, dtype=np.float64)
    places = np.floor((at - at[0]) / period + 1e-9).astype(np.int64)
    count = int(places[-1]) + 1
    if count > 10_000_000:
        raise InputError(f"{name}: {count:,} periods of {period:g} s, expected at most ten million")
    rows = np.full((count, found.shape[1]), np.nan)
    for place, column in enumerate(found.T):
        known = ~np.isnan(column)
        number = np.bincount(places[known], minlength=count)
        total = np.bincount(places[known], weights=column[known], minlength=count)
        rows[number > 0, place] = total[number > 0] / number[number > 0]
    notes = []
    if len(np.unique(places)) < len(places):
        notes.append(f"{len(places):,} rows are averaged in {len(np.unique(places)):,} periods")
    empty = count - len(np.unique(places))
    if empty:
        notes.append(f"{empty:,} of {count:,} periods {'has' if empty == 1 else 'have'} no row")
    return TraceSeries(name, float(at[0]), period, tuple(columns), rows, tuple(notes))


def held(
    begins: ArrayLike, ends: ArrayLike, amounts: ArrayLike, period: float, until: float | None = None
) -> _Floats:
    """How much is held at the end of each period, (t,), by things that hold an amount from one instant to another.

    Parameters
    ----------
    begins, ends
        (n,) s; an end may be infinite. What begins at an instant is held at it, what ends is not.
    amounts
        (n,)
    period
        Seconds a row; the first row is of the instant ``period``.
    until
        The last instant, s; by default the last beginning.

    Examples
    --------
    >>> held([0.0, 5.0], [15.0, 25.0], [2.0, 1.0], 10.0, until=30.0).tolist()
    [3.0, 1.0, 0.0]
    """
    start = np.asarray(begins, dtype=np.float64)
    stop = np.asarray(ends, dtype=np.float64)
    amount = np.asarray(amounts, dtype=np.float64)
    last = float(start.max()) if until is None else until
    at = np.arange(1, int(np.floor(last / period)) + 1) * period
    begun, ended = np.argsort(start, kind="stable"), np.argsort(stop, kind="stable")
    more = np.concatenate([[0.0], np.cumsum(amount[begun])])[np.searchsorted(start[begun], at, side="right")]
    less = np.concatenate([[0.0], np.cumsum(amount[ended])])[np.searchsorted(stop[ended], at, side="right")]
    return np.asarray(more - less)


def _times(path: Path, table: pl.DataFrame) -> tuple[str, _Floats]:
    by_name = {name.strip().lower(): name for name in table.columns}
    named = [by_name[name] for name in _TIME_NAMES if name in by_name]
    for name in named or table.columns:
        times = _parsed(table[name])
        if times is not None:
            return name, times
        if name in named:
            cell = table[name].drop_nulls()
            first = shown(str(cell[0])) if len(cell) else "empty"
            raise InputError(
                f"{path}: column {name}: {first} or one below is no time, expected dates or seconds"
            )
    raise InputError(
        f"{path}: no column of times among {', '.join(table.columns)}, expected one called {_TIME_NAMES[0]}"
    )


def _parsed(cells: pl.Series) -> _Floats | None:
    if cells.is_empty() or cells.null_count():
        return None
    seconds = cells.cast(pl.Float64, strict=False)
    if seconds.null_count() == 0 and bool(seconds.is_finite().all()):
        return seconds.to_numpy().astype(np.float64)
    for text in _FORMATS:
        try:
            found = cells.str.to_datetime(text, strict=False, time_unit="us")
        except pl.exceptions.PolarsError:
            continue
        if found.null_count() == 0:
            return np.asarray(found.dt.epoch("us").to_numpy() / 1e6, dtype=np.float64)
    return None


def _check_clock(path: Path, table: TextTable, name: str, times: _Floats) -> None:
    steps = np.diff(times)
    if (steps <= 0).any():
        row = int((steps <= 0).argmax()) + 1
        cell = shown(str(table.records[name][row]))
        what = "goes back" if steps[row - 1] < 0 else "stands twice"
        raise InputError(
            f"{path}, line {table.line_of(row)}: {name} {cell} {what}, expected a time after that of the line before"
        )


def _values(path: Path, table: TextTable, name: str) -> _Floats:
    cells = table.records[name]
    numbers = cells.cast(pl.Float64, strict=False)
    # A cell that is empty or NaN is a gap; any other cell must be a number ≥ 0.
    values = numbers.fill_null(np.nan).to_numpy()
    bad = (numbers.is_null() & cells.is_not_null()).to_numpy() | (values < 0) | np.isinf(values)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"{path}, line {table.line_of(row)}: {name} is {shown(str(cells[row]))}, expected a number of 0 or more"
        )
    return np.asarray(values, dtype=np.float64)
