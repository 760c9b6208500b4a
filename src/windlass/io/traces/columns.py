"""Conversion of text columns to numbers, with a report of the cells that are not numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from windlass.io.traces.trace import BadLine
from windlass.model import InputError

_LARGEST_WHOLE = float(2**53)  # float64 represents every whole number up to this one


@dataclass(frozen=True, slots=True)
class TraceColumn:
    """A column of numbers of 0 or more.

    Parameters
    ----------
    name
        Name of the column in the records.
    whole
        Whether its values are whole numbers (int64) or any numbers (float64).
    missing
        The number that marks a missing value; None if only an empty cell does.
    """

    name: str
    whole: bool = False
    missing: float | None = None

    @property
    def expected(self) -> str:
        """Description of a valid cell, for messages."""
        kind = "a whole number of 0 or more" if self.whole else "a number of 0 or more"
        return kind if self.missing is None else f"{kind}, or {self.missing:g} for missing"


def numbers(cells: pl.DataFrame, columns: Sequence[TraceColumn]) -> pl.DataFrame:
    """Return every cell as float64, null for empty cells and cells that are not numbers."""
    return cells.select(pl.col(column.name).cast(pl.Float64, strict=False) for column in columns)


def bad_rows(cells: pl.DataFrame, values: pl.DataFrame, columns: Sequence[TraceColumn]) -> pl.DataFrame:
    """Return the first bad cell of each row that has one.

    Parameters
    ----------
    cells
        The columns as text (or numbers).
    values
        The result of :func:`numbers` for ``cells``.
    columns
        Columns to check, in order.

    Returns
    -------
    polars.DataFrame
        ``row`` (from 0), ``column`` (index in ``columns``) and ``cell`` (its text) of each bad row.
    """
    unreadable = [
        (cells[name].is_not_null() & values[name].is_null()).alias(name)
        for name in (column.name for column in columns)
        if cells[name].null_count() != values[name].null_count()
    ]
    bad = values.select(_is_bad(column).fill_null(False) for column in columns)
    bad = bad.with_columns(bad[mask.name] | mask for mask in unreadable)
    rows = bad.with_row_index("row").filter(pl.any_horizontal(bad.columns))
    if rows.is_empty():
        return pl.DataFrame(schema={"row": pl.Int64, "column": pl.Int64, "cell": pl.String})
    first = rows.drop("row").to_numpy().argmax(axis=1).tolist()
    places = zip(rows["row"].to_list(), first, strict=True)
    texts = [str(cells[columns[place].name][row]) for row, place in places]
    return pl.DataFrame({"row": rows["row"].cast(pl.Int64), "column": first, "cell": texts})


def bad_lines(
    rows: pl.DataFrame, columns: Sequence[TraceColumn], line_of: Callable[[int], int]
) -> list[BadLine]:
    """Describe the result of :func:`bad_rows`; ``line_of`` returns the line of a row."""
    return [
        BadLine(line_of(row), f"{columns[place].name} is {quote(cell)}, expected {columns[place].expected}")
        for row, place, cell in rows.iter_rows()
    ]


def converted(column: TraceColumn) -> pl.Expr:
    """Convert a column of :func:`numbers` to its own type, with null for missing or bad values."""
    number = pl.col(column.name)
    known = number if column.missing is None else pl.when(number != column.missing).then(number)
    # Adding 0.0 turns a negative zero into zero: a log that is written and read again stays the same.
    return (known.cast(pl.Int64, strict=False) if column.whole else known + 0.0).alias(column.name)


def quote(cell: str, most: int = 40) -> str:
    """Return a cell for a one-line message: quoted, with control characters escaped, and truncated.

    >>> quote("12x")
    "'12x'"
    """
    return repr(cell if len(cell) <= most else cell[: most - 1] + "…")


def refuse_or_note(name: str, bad: Sequence[BadLine], skip: bool, unit: str = "line") -> tuple[str, ...]:
    """Raise for the first bad line, or return a note with the number of bad lines and the first ones.

    Parameters
    ----------
    name
        Name of the file in messages.
    bad
        The bad lines, in the order of the file.
    skip
        Whether to continue without bad lines.
    unit
        Name of a line in messages.

    Raises
    ------
    InputError
        There is a bad line and ``skip`` is False.
    """
    if not bad:
        return ()
    if not skip:
        raise InputError(f"{name}, {unit} {bad[0].line}: {bad[0].reason}")
    which = ", ".join(str(line.line) for line in bad[:10]) + (", …" if len(bad) > 10 else "")
    if len(bad) == 1:
        return (f"1 bad {unit} is left out: {unit} {which}",)
    return (f"{len(bad):,} bad {unit}s are left out: {unit}s {which}",)


def _is_bad(column: TraceColumn) -> pl.Expr:
    number = pl.col(column.name)
    bad = ~number.is_finite() | (number < 0)
    if column.whole:
        bad = bad | (number != number.floor()) | (number > _LARGEST_WHOLE)
    return bad if column.missing is None else bad & (number != column.missing)
