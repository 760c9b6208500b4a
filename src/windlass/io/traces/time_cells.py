"""Cells of tables that hold times, durations and numbers: their values, and the cells that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import polars as pl

from windlass.io.traces.fields import UnreadableError, duration, instant
from windlass.io.traces.regional_dates import UNCLEAR, year_first

#: The smallest number that counts each unit since 1970, and the largest: a date before 2200.
_SIZES = ((1e17, 1e-9, "nanoseconds"), (1e14, 1e-6, "microseconds"), (1e11, 1e-3, "milliseconds"))
_LAST_DATE = 7.26e9
#: The form of dates in local time, which may repeat an hour.
WITHOUT_ZONE = "dates without a zone"
#: The smallest number of seconds that is a date (1973); smaller ones have an origin of the log's own.
FIRST_DATE = 1e8
#: Formats without fractions are parsed three times as fast.
_DATES = (
    *("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"),
    *("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d"),
)
_ZONED = re.compile(r"[T ].*(?:Z|z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)$")
_CLOCK = r"^(?:([0-9]+)-)?([0-9]+):([0-5]?[0-9]):([0-5]?[0-9](?:\.[0-9]+)?)$"
_LARGEST_WHOLE = float(2**53)
_TIME = "a time: a number of seconds, or a date such as 2024-05-01T12:00:00"
_DURATION = "a duration: a number of seconds of 0 or more, 01:02:03 or 1-02:03:04"
_NUMBER = "a number of 0 or more"


@dataclass(frozen=True, slots=True, eq=False)
class ParsedCells:
    """The values of a column.

    Parameters
    ----------
    values
        Numbers (Float64); null for an empty cell, or one that cannot be read.
    wrong
        What was expected of each cell that cannot be read, by row.
    form
        How times are written: ``dates with a zone``, ``dates without a zone``, ``milliseconds`` etc., or ``seconds``.
    """

    values: pl.Series
    wrong: dict[int, str] = field(default_factory=dict)
    form: str = "seconds"

    @property
    def dated(self) -> bool:
        """Whether the cells are dates."""
        return self.form.startswith("dates")


def read_times(cells: pl.Series, unit: float | None, line_of: Callable[[int], int]) -> ParsedCells:
    """Read times, s: numbers, or dates, which count from 1970.

    All cells must have the form of the first one: numbers of one unit, dates with a zone, or dates without one (UTC).
    Numbers from 1e11 on count milliseconds, microseconds or nanoseconds since 1970, unless the unit is given.

    Parameters
    ----------
    cells
        Text without spaces around it, numbers, or dates.
    unit
        Seconds per unit of numbers; None to detect it.
    line_of
        Returns the line of a row, for messages.

    Examples
    --------
    >>> read_times(pl.Series(["1970-01-01 00:01:00", "5"]), None, lambda row: row + 2).wrong
    {1: 'a date without a zone as in line 2'}
    """
    if cells.dtype.is_temporal():
        return _temporal(cells)
    numbers = cells.cast(pl.Float64, strict=False)
    if numbers.null_count() == cells.null_count():
        return _counted(numbers, unit, line_of)
    texts, unclear = year_first(cells.set(numbers.is_not_null(), None))
    dates, zoned = _dates(texts)
    form = pl.Series(
        pl.select(
            pl.when(numbers.is_not_null())
            .then(pl.lit("a number"))
            .when(dates.is_not_null() & zoned)
            .then(pl.lit("a date with a zone"))
            .when(dates.is_not_null())
            .then(pl.lit("a date without a zone"))
        ).to_series()
    )
    known = form.is_not_null().arg_true()
    unread = (form.is_null() & cells.is_not_null()).arg_true().to_list()
    wrong = dict.fromkeys(unread, UNCLEAR if unclear else _TIME)
    if not len(known):
        return ParsedCells(dates, wrong)
    first = form[int(known[0])]
    other = (form != first).fill_null(False)
    wrong |= dict.fromkeys(other.arg_true().to_list(), f"{first} as in line {line_of(int(known[0]))}")
    if first == "a number":
        found = _counted(numbers.set(other, None), unit, line_of)
        return ParsedCells(found.values, found.wrong | wrong, found.form)
    return ParsedCells(dates.set(other, None), wrong, first.replace("a date", "dates"))


def read_durations(cells: pl.Series, unit: float | None = None) -> ParsedCells:
    """Read durations, s: numbers, 01:02:03, 1-02:03:04 (days first), or ISO 8601 such as PT1H2M.

    Parameters
    ----------
    cells
        Text without spaces around it, numbers, or durations.
    unit
        Seconds per unit of numbers; None for seconds.

    Examples
    --------
    >>> read_durations(pl.Series(["1-00:00:01", "PT1M", "90"])).values.to_list()
    [86401.0, 60.0, 90.0]
    """
    if cells.dtype == pl.Duration:
        return _checked(cells.dt.total_microseconds() / 1e6, _DURATION)
    numbers = cells.cast(pl.Float64, strict=False)
    if unit is not None:
        numbers = numbers * unit
    if numbers.null_count() == cells.null_count():
        return _checked(numbers, _NUMBER)
    texts = cells.set(numbers.is_not_null(), None)
    parts = texts.str.extract_groups(_CLOCK).struct.unnest().cast(pl.Float64)
    days, hours, minutes, seconds = parts.get_columns()
    clocks = days.fill_null(0.0) * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds
    rest = texts.set(clocks.is_not_null(), None)
    words = _each(rest, duration)
    values = numbers.fill_null(clocks).fill_null(words)
    found = _checked(values, _NUMBER)
    unread = (values.is_null() & cells.is_not_null()).arg_true().to_list()
    return ParsedCells(found.values, found.wrong | dict.fromkeys(unread, _DURATION))


def read_numbers(cells: pl.Series, *, whole: bool) -> ParsedCells:
    """Read numbers of 0 or more.

    Parameters
    ----------
    cells
        Text without spaces around it, or numbers.
    whole
        Whether only whole numbers are valid.

    Examples
    --------
    >>> read_numbers(pl.Series(["4", "1.5"]), whole=True).wrong
    {1: 'a whole number of 0 or more'}
    """
    expected = "a whole number of 0 or more" if whole else _NUMBER
    values = cells.cast(pl.Float64, strict=False)
    found = _checked(values, expected)
    unread = (values.is_null() & cells.is_not_null()).arg_true().to_list()
    wrong = found.wrong | dict.fromkeys(unread, expected)
    if whole:
        odd = ((found.values != found.values.floor()) | (found.values > _LARGEST_WHOLE)).fill_null(False)
        wrong |= dict.fromkeys(odd.arg_true().to_list(), expected)
        return ParsedCells(found.values.set(odd, None), wrong)
    return ParsedCells(found.values, wrong)


def _checked(values: pl.Series, expected: str) -> ParsedCells:
    """Return the values without those that are negative, infinite or NaN."""
    bad = (~values.is_finite() | (values < 0)).fill_null(False)
    # Adding 0.0 turns a negative zero into zero: a log that is written and read again stays the same.
    if not bad.any():
        return ParsedCells(values + 0.0)
    wrong = dict.fromkeys(bad.arg_true().to_list(), expected)
    # Other formats mark a missing value by this number.
    unknown = (values == -1.0).fill_null(False).arg_true().to_list()
    wrong |= dict.fromkeys(unknown, f"{expected}; the cell of an unknown value is empty")
    return ParsedCells(values.set(bad, None) + 0.0, wrong)


def _counted(numbers: pl.Series, unit: float | None, line_of: Callable[[int], int]) -> ParsedCells:
    """Return numbers in seconds, by a unit or by their size."""
    found = _checked(numbers, _NUMBER)
    if unit is not None:
        return ParsedCells(found.values * unit, found.wrong)
    known = found.values.drop_nulls()
    most = float(known.to_numpy().max()) if len(known) else 0.0
    size = next((size for size in _SIZES if most >= size[0]), None)
    if size is None:
        return found
    least, factor, name = size
    first = int(found.values.is_not_null().arg_true()[0])
    start = float(found.values[first])
    # The unit is that of the first cell.
    least, factor, name = next((each for each in _SIZES if start >= each[0]), (0.0, 1.0, "seconds"))
    above = next((each[0] for each in reversed(_SIZES) if each[0] > least), float("inf"))
    odd = ((found.values < least) | (found.values >= above)).fill_null(False)
    counted = f"{name} since 1970, by the size of the number in line {line_of(first)}"
    if start < FIRST_DATE:
        counted = f"a number of seconds of the size of that in line {line_of(first)}"
    wrong = found.wrong | dict.fromkeys(odd.arg_true().to_list(), counted)
    values = found.values.set(odd, None) * factor
    late = (values > _LAST_DATE).fill_null(False) if factor != 1.0 else odd & False
    wrong |= dict.fromkeys(
        late.arg_true().to_list(), f"{_TIME}; {name} since 1970 by its size, but after the year 2200"
    )
    return ParsedCells(values.set(late, None), wrong, name)


def _temporal(cells: pl.Series) -> ParsedCells:
    zoned = isinstance(cells.dtype, pl.Datetime) and cells.dtype.time_zone is not None
    if cells.dtype not in (pl.Datetime, pl.Date):
        unread = cells.is_not_null().arg_true().to_list()
        return ParsedCells(pl.Series([None] * len(cells), dtype=pl.Float64), dict.fromkeys(unread, _TIME))
    seconds = cells.cast(pl.Datetime("us", "UTC" if zoned else None)).dt.epoch("us") / 1e6
    found = _checked(seconds, _TIME)
    return ParsedCells(found.values, found.wrong, f"dates {'with' if zoned else 'without'} a zone")


def _dates(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the time of each date, s since 1970, and whether it has a zone; null for cells that are no dates."""
    first = cells.drop_nulls().head(1)
    if len(first):
        zoned = _ZONED.search(first[0]) is not None
        for text in _DATES:
            if _parsed(first, text + "%#z" * zoned) is None:
                continue
            found = _parsed(cells, text + "%#z" * zoned)
            if found is not None:
                return found.dt.epoch("us") / 1e6, pl.Series([zoned]).new_from_index(0, len(cells))
    return _each(cells, _date), _each(cells, _has_zone) > 0.0


def _parsed(cells: pl.Series, text: str) -> pl.Series | None:
    """Return the dates of all cells in a format; None if a cell has another."""
    try:
        found = cells.str.to_datetime(text, strict=False, time_unit="us")
    except pl.exceptions.PolarsError:
        return None
    return found if found.null_count() == cells.null_count() else None


def _date(name: str, text: str) -> float:
    at = instant(name, re.sub(r" ?(UTC|GMT)$", "Z", text.replace("/", "-")))
    if at < 0:
        raise UnreadableError.of(name, text, _TIME)
    return at


def _has_zone(name: str, text: str) -> float:
    return float(_ZONED.search(text) is not None)


def _each(cells: pl.Series, read: Callable[[str, str], float]) -> pl.Series:
    """Return the value of each text; null for those that cannot be read."""
    found: dict[str, float | None] = {}
    for cell in cells.drop_nulls().unique():
        try:
            found[cell] = read("", cell)
        except UnreadableError:
            found[cell] = None
    if not found:
        return pl.Series([None], dtype=pl.Float64).new_from_index(0, len(cells))
    return cells.replace_strict(found, default=None, return_dtype=pl.Float64)
