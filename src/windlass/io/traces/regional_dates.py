"""Dates of spreadsheets, such as 31.01.2026 13:05 and 1/31/2026 1:05 PM, as dates that begin with the year."""

from __future__ import annotations

import polars as pl

_FORM = (
    r"^(?<first>[0-9]{1,2})(?<sign>[./-])(?<second>[0-9]{1,2})[./-](?<year>[0-9]{4})"
    r"(?:[ T]+(?<hour>[0-9]{1,2}):(?<minute>[0-9]{2})(?::(?<s>[0-9]{2}(?:\.[0-9]+)?))?(?: ?(?<half>[AaPp])[Mm])?)?$"
)
#: Expected of dates that may begin with the day or with the month.
UNCLEAR = (
    "a date such as 2024-05-01T12:00:00; no date of this column shows whether the day or the month is first"
)


def year_first(cells: pl.Series) -> tuple[pl.Series, bool]:
    """Return dates with the year first, and whether they are left as they are because their order is unclear.

    A date with dots begins with its day. Other dates begin with what exceeds 12 in any cell of the column. Cells of
    another form, and dates that do not exist, are returned unchanged.

    Parameters
    ----------
    cells
        Text without spaces around it; null for an empty cell.

    Examples
    --------
    >>> year_first(pl.Series(["1/2/2026 1:05 PM", "1/31/2026 12:00 AM"]))[0].to_list()
    ['2026-01-02 13:05:00', '2026-01-31 00:00:00']
    >>> year_first(pl.Series(["1.2.2026 13:05"]))[0].to_list(), year_first(pl.Series(["1/2/2026"]))[1]
    (['2026-02-01 13:05:00'], True)
    """
    begin = cells.drop_nulls().head(1)
    if not (len(begin) and begin.str.contains(_FORM)[0]):
        return cells, False
    parts = cells.str.extract_groups(_FORM).struct.unnest()
    first, second = (parts[name].cast(pl.Int64) for name in ("first", "second"))
    days = [bool((each > 12).any()) for each in (first, second)]
    dots = (parts["sign"] == ".").all()
    if not dots and not any(days):
        return cells, True
    if all(days):
        return cells, False
    day, month = (first, second) if dots or days[0] else (second, first)
    hour = parts["hour"].cast(pl.Int64).fill_null(0)
    half = parts["half"].str.to_lowercase()
    # 12 AM is midnight, and 12 PM is noon. An hour of 13 PM does not exist and stays as it is.
    clock = half.is_not_null().fill_null(False) & hour.is_between(1, 12)
    hour = hour.zip_with(~clock, hour % 12 + 12 * (half == "p").fill_null(False).cast(pl.Int64))
    known = parts["year"].is_not_null() & (clock | half.is_null())
    written = pl.select(
        pl.format(
            "{}-{}-{} {}:{}:{}",
            parts["year"],
            *(each.cast(pl.String).str.zfill(2) for each in (month, day, hour)),
            parts["minute"].fill_null("00"),
            parts["s"].fill_null("00"),
        )
    ).to_series()
    return cells.zip_with(~known, written), False
