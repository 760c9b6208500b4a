"""Numbers with a decimal comma, which must not be confused with separators of thousands."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

_COMMA = r"^\d+,\d+$"
#: May also be a whole number with separators of thousands.
_THOUSANDS = r"^[1-9]\d{0,2}(,\d{3})+$"
_POINT = r"^\d+\.\d+$"
_UNCLEAR = "a number without separators of thousands and with a decimal point: {} may be two numbers"


def with_decimal_points(
    columns: Mapping[str, pl.Series],
) -> tuple[dict[str, pl.Series], dict[str, dict[int, str]]]:
    """Return columns with decimal points, and what was expected of cells whose meaning is unclear.

    A comma is the decimal sign of all columns if some cell, such as 1,5, can only have a decimal comma, and none has a
    decimal point.

    Parameters
    ----------
    columns
        Columns by name; those that are not text are returned unchanged.

    Examples
    --------
    >>> found, wrong = with_decimal_points({"run": pl.Series(["1,5", "1,234"])})
    >>> found["run"].to_list(), wrong
    (['1.5', '1.234'], {})
    >>> with_decimal_points({"run": pl.Series(["1,234"])})[1]
    {'run': {0: 'a number without separators of thousands and with a decimal point: 1,234 may be two numbers'}}
    """
    commas = {
        name: cells.str.contains(_COMMA).fill_null(False)
        for name, cells in columns.items()
        if cells.dtype == pl.String and cells.str.contains(",", literal=True).any()
    }
    commas = {name: mask for name, mask in commas.items() if mask.any()}
    if not commas:
        return dict(columns), {}
    certain = any(
        not columns[name].filter(mask).str.contains(_THOUSANDS).all() for name, mask in commas.items()
    )
    points = any(cells.str.contains(_POINT).any() for cells in columns.values() if cells.dtype == pl.String)
    if certain and not points:
        return {
            name: cells.str.replace(",", ".", literal=True) if name in commas else cells
            for name, cells in columns.items()
        }, {}
    wrong = {
        name: {row: _UNCLEAR.format(columns[name][row]) for row in mask.arg_true().to_list()}
        for name, mask in commas.items()
    }
    return dict(columns), wrong
