"""Reading of a table with a time in each line, as a series on an even time grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from windlass.io.traces.columns import quote
from windlass.io.traces.csv_text import TextTable, csv_names, first_fields, read_csv_text
from windlass.io.traces.files import read_text, stem
from windlass.io.traces.times import seconds_of
from windlass.model import InputError
from windlass.model.nearest import did_you_mean

_Floats = NDArray[np.float64]

#: Names of the time column, in order of preference; otherwise the first column whose cells are all times.
_TIME_NAMES = ("time", "timestamp", "datetime", "date", "ds", "at", "t")


@dataclass(frozen=True, slots=True, eq=False)
class TraceSeries:
    """Values on an even time grid.

    Parameters
    ----------
    name
        Name of the series in messages.
    begin
        Time of the first row, s; since 1970 if the file has dates.
    period
        Time from one row to the next, s.
    columns
        Names of the k columns.
    rows
        (t, k) values; NaN if there is no measurement.
    notes
        Notes on gaps and averaged rows.
    """

    name: str
    begin: float
    period: float
    columns: tuple[str, ...]
    rows: _Floats
    notes: tuple[str, ...] = ()


def read_series(path: Path, period: float | None, columns: Sequence[str] = ()) -> TraceSeries:
    """Read a CSV file with one column of times and further columns of numbers.

    Rows in the same period are averaged, and periods without a row are gaps. Times are dates or seconds, strictly
    increasing; a date without a zone is in UTC. If the first line has no names but a time and numbers, it is a row, and
    the columns are named by their place: ``column 1``, ``column 2``.

    Parameters
    ----------
    path
        The file, plain or ``.gz``.
    period
        Period of the grid, s; None for the most frequent time from one row to the next, which a note states.
    columns
        Columns to read; by default all except the time.

    Raises
    ------
    InputError
        There is no column of times or no column of a given name, a time decreases or repeats, or a value is negative,
        infinite or not a number; names file, line, column and value.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "use.csv"
    >>> _ = path.write_text("time,gpus\\n2020-04-01 00:00:00,3\\n2020-04-01 00:20:00,5\\n")
    >>> series = read_series(path, 600)
    >>> series.rows.ravel().tolist(), series.notes[0]
    ([3.0, nan, 5.0], '1 of 3 periods has no row')
    """
    if period is not None and not 0 < period < np.inf:
        raise InputError(f"period is {period}, expected a number of seconds above 0")
    table, notes = _table(path)
    if table.bad:
        raise InputError(f"{path}, line {table.bad[0].line}: {table.bad[0].reason}")
    time_name, times = _times(path, table)
    _check_clock(path, table, time_name, times)
    chosen = tuple(columns) or tuple(name for name in table.records.columns if name != time_name)
    for name in chosen:
        if name not in table.records.columns or name == time_name:
            hint = did_you_mean(name, table.records.columns)
            raise InputError(f"{path}: no column {name!r}, found {', '.join(table.records.columns)}{hint}")
    if not chosen:
        raise InputError(f"{path}: no column except the time {time_name!r}, expected at least one of numbers")
    values = np.stack([_values(path, table, name) for name in chosen], axis=1)
    empty = [name for name, column in zip(chosen, values.T, strict=True) if np.isnan(column).all()]
    if empty:
        raise InputError(f"{path}: column {empty[0]} has no value, expected at least one number")
    if period is None:
        period, inferred = _most_frequent_step(path, times)
        notes = (*notes, inferred)
    series = on_grid(stem(path), times, values, period, chosen)
    return replace(series, notes=(*notes, *series.notes, *_filled_notes(series.rows)))


def _most_frequent_step(path: Path, times: _Floats) -> tuple[float, str]:
    """Return the most frequent time from one row to the next, the shortest of several, and a note."""
    if len(times) < 2:
        raise InputError(f"{path}: one row, expected at least two, or the time between rows")
    steps, counts = np.unique(np.diff(times).round(6), return_counts=True)
    most = int(np.argmax(counts))
    period = float(steps[most])
    share = f"{counts[most]:,} of {len(times) - 1:,} steps"
    return period, f"rows are {period:g} s apart, as in {share}"


def _filled_notes(rows: _Floats) -> tuple[str, ...]:
    """Return a note on the share of values that are missing, which forecasters fill in."""
    missing = int(np.isnan(rows).sum())
    if not missing:
        return ()
    part = f"{100 * missing / rows.size:.2g} %"
    filled = "are missing: forecasters see the value before, and no error is counted there"
    return (f"{missing:,} of {rows.size:,} values ({part}) {filled}",)


def on_grid(
    name: str, times: ArrayLike, values: ArrayLike, period: float, columns: Sequence[str]
) -> TraceSeries:
    """Return values (n, k) at non-decreasing times as a series: averaged per period, NaN in periods without a value.

    Raises
    ------
    InputError
        The grid would have more than ten million rows, for example because of a wrong unit of time.
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


def amounts_held(
    begins: ArrayLike, ends: ArrayLike, amounts: ArrayLike, period: float, until: float | None = None
) -> _Floats:
    """Return (t,) the total amount held at the end of each period, for n intervals that each hold an amount.

    Parameters
    ----------
    begins, ends
        (n,) begin and end of each interval, s; an end may be infinite. The end is not part of the interval.
    amounts
        (n,) amount of each interval.
    period
        Length of a period, s; the first row is for the instant ``period``.
    until
        The last instant, s; by default the last begin.

    Examples
    --------
    >>> amounts_held([0.0, 5.0], [15.0, 25.0], [2.0, 1.0], 10.0, until=30.0).tolist()
    [3.0, 1.0, 0.0]
    """
    start = np.asarray(begins, dtype=np.float64)
    stop = np.asarray(ends, dtype=np.float64)
    amount = np.asarray(amounts, dtype=np.float64)
    last = float(start.max()) if until is None else until
    at = np.arange(1, int(np.floor(last / period)) + 1) * period
    by_start, by_end = np.argsort(start, kind="stable"), np.argsort(stop, kind="stable")
    more = np.concatenate([[0.0], np.cumsum(amount[by_start])])[
        np.searchsorted(start[by_start], at, side="right")
    ]
    less = np.concatenate([[0.0], np.cumsum(amount[by_end])])[np.searchsorted(stop[by_end], at, side="right")]
    return np.asarray(more - less)


def _table(path: Path) -> tuple[TextTable, tuple[str, ...]]:
    """Return the cells as text, and a note if the first line has no names."""
    name, text = str(path), read_text(path)
    fields = first_fields(text)
    if not _is_row(fields):
        return read_csv_text(name, text, as_text=csv_names(name, text)), ()
    names = [f"column {place}" for place in range(1, len(fields) + 1)]
    table = read_csv_text(name, ",".join(names) + "\n" + text, as_text=names)
    bad = tuple(replace(each, line=each.line - 1) for each in table.bad)
    note = f"the first line has no names: columns are named {', '.join(names)}"
    return TextTable(table.records, lambda row: table.line_of(row) - 1, bad), (note,)


def _is_row(fields: Sequence[str]) -> bool:
    """Return whether all fields are times or numbers; a gap may follow the first."""
    return bool(fields and fields[0].strip()) and all(
        seconds_of(pl.Series([field.strip()])) is not None for field in fields if field.strip()
    )


def _times(path: Path, table: TextTable) -> tuple[str, _Floats]:
    records = table.records
    if records.is_empty():
        raise InputError(
            f"{path}: no row after the header, expected one with a time and values for each period"
        )
    by_name = {name.strip().lower(): name for name in records.columns}
    named = [by_name[name] for name in _TIME_NAMES if name in by_name]
    for name in named or records.columns:
        times = seconds_of(records[name])
        if times is not None:
            return name, times
        if name in named:
            row = _first_without_time(records[name])
            cell = quote(str(records[name][row] or ""))
            form = "in the form of the lines before it" if row else "as a date or in seconds"
            raise InputError(f"{path}, line {table.line_of(row)}: {name} is {cell}, expected a time {form}")
    raise InputError(
        f"{path}: no column of times among {', '.join(records.columns)}, expected one named {_TIME_NAMES[0]}"
    )


def _first_without_time(cells: pl.Series) -> int:
    """Return the first row with which the cells up to it are no times in one form."""
    good, bad = 0, len(cells)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if seconds_of(cells.head(middle)) is None else (middle, bad)
    return bad - 1


def _check_clock(path: Path, table: TextTable, name: str, times: _Floats) -> None:
    steps = np.diff(times)
    if (steps <= 0).any():
        row = int((steps <= 0).argmax()) + 1
        cell = quote(str(table.records[name][row]))
        what = "decreases" if steps[row - 1] < 0 else "is repeated"
        raise InputError(
            f"{path}, line {table.line_of(row)}: {name} {cell} {what}, expected a time after that of the previous line"
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
            f"{path}, line {table.line_of(row)}: {name} is {quote(str(cells[row]))}, expected a number of 0 or more"
        )
    return np.asarray(values, dtype=np.float64)
